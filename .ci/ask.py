"""Ask a service for the letters of a word."""

import json
import sys
import urllib.request

from kernelfields.datasets import load_letters

letters = load_letters()
body = json.dumps({"sequences": [letters.images[500].tolist()]}).encode()
request = urllib.request.Request(
    f"{sys.argv[1]}/models/letters/tag", body, {"Content-Type": "application/json"}
)
with urllib.request.urlopen(request, timeout=30) as answer:
    found = json.loads(answer.read())
print("".join(found["labels"][0]), "for", "".join(letters.labels[500]), "with", found["probabilities"][0])
