"""Labels for several files, some at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from ..files.kinds import kind_of_name
from ..io.opening import is_pipe
from ._cluster import backed_by
from ._loaded import load_labeller
from ._tagging import STREAM, Tagging
from ._tool_answers import ENDINGS, OTHERWISE


def tag_files(
    asked: Tagging, data: Sequence[str], out: Path | None, jobs: int | None, dask: str | None
) -> None:
    """Label files; answers have the same names in a folder, which is made if need be."""
    if out is None:
        raise InputError("Several files need a folder for their answers: -o FOLDER.")
    if dask is not None and jobs is not None:
        raise InputError("--jobs and --dask exclude each other.")
    if STREAM in data:
        raise InputError("The standard input cannot be one of several files.")
    pipe = next((one for one in data if is_pipe(one)), None)
    if pipe is not None and (dask is not None or (jobs or 1) > 1):
        raise InputError(f"{pipe} is a pipe, which other processes cannot read: leave --jobs and --dask out.")
    answers = [out / answer_name(Path(one), asked.to) for one in data]
    require_new(data, answers)
    load_labeller(asked.model)  # refuses what is no model, once
    out.mkdir(parents=True, exist_ok=True)
    with backed_by(dask) as workers:
        _run(asked, list(zip(data, answers, strict=True)), workers or jobs or 1)


def _run(asked: Tagging, pairs: list[tuple[str, Path]], jobs: int) -> None:
    from joblib import Parallel, delayed

    tasks = (delayed(_labelled)(asked, *pair, n > 0) for n, pair in enumerate(pairs))
    for failed in Parallel(n_jobs=jobs, return_as="generator")(tasks):
        if failed is not None:
            raise InputError(failed)


def _labelled(asked: Tagging, data: str, out: Path, quiet: bool) -> str | None:
    """Label one file, and say why if that cannot be; warnings are those of the first file."""
    try:
        asked.run(data, out, quiet)
    except (InputError, OSError) as error:
        said = str(error)
        return said if data in said else f"{data}: {said}"
    return None


def answer_name(path: Path, to: str | None) -> str:
    """Return the name of an answer: arrays and tables become JSON lines, and nothing is compressed."""
    name = path.name.removesuffix(".gz")
    kind = to or OTHERWISE.get(kind_of_name(name) or "")
    ending = None if kind is None else ENDINGS.get(kind, kind)
    return name if ending is None else f"{Path(name).stem}.{ending}"


def require_new(data: Sequence[str], answers: Sequence[Path]) -> None:
    """Refuse answers that would overwrite a file that is read, or each other."""
    read = {Path(one).resolve() for one in data}
    seen: dict[Path, str] = {}
    for one, answer in zip(data, answers, strict=True):
        if not Path(one).exists() or Path(one).is_dir():
            raise InputError(f"There is no file {one}.")
        if answer.resolve() in read:
            raise InputError(f"The answers to {one} would overwrite {answer}: choose another folder.")
        if answer in seen:
            raise InputError(f"{one} and {seen[answer]} would have the same answers, {answer}.")
        seen[answer] = one
