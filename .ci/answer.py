"""Answer the questions of ``kf label letters`` for sixty words, by the requests that its page sends."""

import json
import sys
import urllib.request

from kernelfields.datasets import load_letters

WORDS = 60


def ask(path, body=None):
    """Send a request to the page's server, and return what it answers."""
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(f"{sys.argv[1]}/api/{path}", data, timeout=30) as answer:
        return json.loads(answer.read())


letters = load_letters().labels
item = ask("next")["next"]["item"]
for _ in range(WORDS):
    item = ask("accept", {"item": item, "labels": list(letters[item])})["next"]["item"]
said = ask("overview")
last = said["curve"][-1]
errors = f"{last['wrong']} of {last['of']} letters wrong in {last['sequences']} checks"
print(f"{said['done']} words accepted; {errors}")
