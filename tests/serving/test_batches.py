"""Requests that are answered together: as if each had been alone."""

import asyncio
import json
import threading
from itertools import cycle, islice

import httpx
import numpy as np
import pytest

from kernelfields.serving import Limits, service
from kernelfields.serving.answering import Answering
from kernelfields.serving.lane import Job, JobOutcome, Lane
from kernelfields.web import Guards, RefusedError, guarded

from ._client import AppClient
from .conftest import as_json, shelf_of, words


def jobs_of(loop, served, bodies):
    return [
        Job("words", served, name, json.dumps(body).encode(), loop.create_future()) for name, body in bodies
    ]


def test_a_batch_gives_what_each_would_get_alone(folder, rng):
    served = shelf_of(folder / "words.kf")["words"]
    X, _ = words(60, seed=5)
    kinds = [
        ("tag", {}),
        ("tag", {"abstain": 0.9}),
        ("tag", {"error_at_most": 0.1}),
        ("kbest", {"k": 2}),
        ("marginals", {}),
        ("tag", {"abstain": "wrong"}),
    ]
    sizes = rng.integers(0, 4, size=40)
    bodies = [
        (name, {"sequences": [as_json(X[k]) for k in rng.integers(len(X), size=n)], **options})
        for n, (name, options) in zip(sizes, islice(cycle(kinds), 40), strict=True)
    ]
    loop = asyncio.new_event_loop()
    answering = Answering(Limits())
    jobs = jobs_of(loop, served, bodies)
    together = {id(one.job): one.answer for one in answering(jobs)}
    alone = [answering(jobs_of(loop, served, [body]))[0].answer for body in bodies]
    loop.close()
    for job, expected in zip(jobs, alone, strict=True):
        found = together[id(job)]
        if isinstance(expected, bytes):
            compare(json.loads(found), json.loads(expected))
        else:
            assert (found.status, str(found)) == (expected.status, str(expected))


def compare(found, expected):
    """Probabilities may differ in the last of their six digits: sums of a batch are in another order."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            compare(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for left, right in zip(found, expected, strict=True):
            compare(left, right)
    elif isinstance(expected, float):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=2e-6)
    else:
        assert found == expected


def test_one_that_fails_spoils_no_other(folder, monkeypatch):
    served = shelf_of(folder / "words.kf")["words"]
    plain = type(served.model).predict

    def failing(self, X, **how):
        if any("bomb" in token for x in X for token in x):
            raise MemoryError
        return plain(self, X, **how)

    monkeypatch.setattr(type(served.model), "predict", failing)
    loop = asyncio.new_event_loop()
    bodies = [("tag", {"sequences": [[word]]}) for word in ("Ana", "bomb", "Luis")]
    outcomes = Answering(Limits())(jobs_of(loop, served, bodies))
    loop.close()
    assert [isinstance(one.answer, bytes) for one in outcomes] == [True, False, True]
    assert "not enough memory" in str(outcomes[1].answer)


async def ask_all(app, bodies, gate):
    """Ask for all at once, and open the gate of the lanes when all wait."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        asked = asyncio.gather(*(client.post("/models/words/tag", json=body) for body in bodies))
        try:
            while not asked.done() and (await client.get("/health")).json()["waiting"] < len(bodies):
                await asyncio.sleep(0.01)
        finally:
            gate.set()
        return await asked


def test_many_at_once(folder, models):
    X, _ = words(200, seed=6)
    limits, gate = Limits(patience=600.0, cheap=10.0), threading.Event()
    app = guarded(service(shelf_of(folder / "words.kf"), limits, thread_starts=gate.wait), Guards())
    with AppClient(app) as client:
        bodies = [{"sequences": [as_json(x)]} for x in X]
        answers = asyncio.run(asyncio.wait_for(ask_all(app, bodies, gate), 300))
        sizes = client.get("/metrics").text
    assert [answer.json()["labels"][0] for answer in answers] == models["words"].predict(X)
    alone = float(sizes.partition('kf_batch_sequences_bucket{le="8"} ')[2].split()[0])
    every = float(sizes.partition("kf_batch_sequences_count ")[2].split()[0])
    assert every > alone  # some batches had more than eight


def lane_of(work, most=3, patience=5.0):
    lane = Lane(work, most, patience, lambda outcomes: None)
    lane.start()
    return lane


def job_of(name="words"):
    return Job(name, None, "tag", b"", asyncio.get_running_loop().create_future())


def test_a_full_lane_asks_to_come_back():
    async def run():
        begun, gate = threading.Event(), threading.Event()

        def work(jobs):
            begun.set()
            gate.wait()
            return [JobOutcome(job, b"done") for job in jobs]

        lane = lane_of(work)
        jobs = [job_of() for _ in range(5)]
        lane.put(jobs[0])
        await asyncio.to_thread(begun.wait)
        for job in jobs[1:4]:
            lane.put(job)
        with pytest.raises(RefusedError, match="busy") as refused:
            lane.put(jobs[4])
        gate.set()
        found = await asyncio.gather(*(job.future for job in jobs[:4]))
        lane.close()
        return refused.value, found

    refused, found = asyncio.run(run())
    assert (refused.status, refused.headers) == (503, {"retry-after": "1"})
    assert found == [b"done"] * 4


def test_what_waits_too_long_is_given_up():
    """Its client is told while the thread is still busy with others, and it is never begun."""

    async def run():
        begun, gate, seen = threading.Event(), threading.Event(), []

        def work(jobs):
            seen.extend(job.name for job in jobs)
            begun.set()
            gate.wait()
            return [JobOutcome(job, b"done") for job in jobs]

        lane = lane_of(work)
        first, late, fresh = job_of("first"), job_of("late"), job_of("fresh")
        lane.put(first)
        await asyncio.to_thread(begun.wait)
        first.begun = True
        lane.put(late)
        lane.put(fresh)
        first.give_up()  # too late: it is under way
        late.give_up()
        (told,) = await asyncio.gather(late.future, return_exceptions=True)
        gate.set()
        found = await asyncio.gather(first.future, fresh.future)
        lane.close()
        return told, found, seen

    told, found, seen = asyncio.run(run())
    assert (told.status, told.headers) == (503, {"retry-after": "1"})
    assert found == [b"done", b"done"]
    assert seen == ["first", "fresh"]


def test_a_thread_survives_what_it_runs(caplog):
    async def run():
        def work(jobs):
            if jobs[0].name == "bad":
                raise SystemExit
            return [JobOutcome(job, b"done") for job in jobs]

        lane = lane_of(work)
        bad, good = job_of("bad"), job_of()
        lane.put(bad)
        (error,) = await asyncio.gather(bad.future, return_exceptions=True)
        lane.put(good)
        found = await good.future
        lane.close()
        return error, found, lane.is_alive

    error, found, alive = asyncio.run(run())
    assert (str(error), found, alive) == ("A batch failed.", b"done", False)


def test_a_client_that_has_gone_is_no_trouble():
    async def run():
        lane = lane_of(lambda jobs: [JobOutcome(job, b"done") for job in jobs])
        gone, here = job_of(), job_of()
        gone.future.cancel()
        lane.put(gone)
        lane.put(here)
        found = await here.future
        lane.close()
        return found

    assert asyncio.run(run()) == b"done"


def test_large_requests_wait_elsewhere(folder):
    """A request that takes long to prepare is passed on by the lane of small ones."""
    served = shelf_of(folder / "words.kf")["words"]
    taken = []
    loop = asyncio.new_event_loop()
    body = ("tag", {"sequences": [["Ana"]], "error_at_most": 0.2})
    (outcome,) = Answering(Limits(), taken.append)(jobs_of(loop, served, [body]))
    assert outcome.answer is None
    assert taken == [outcome.job]
    (answered,) = Answering(Limits())(taken)
    assert isinstance(answered.answer, bytes)
    (again,) = Answering(Limits(), taken.append)(jobs_of(loop, served, [body]))
    loop.close()
    assert again.answer == answered.answer
