"""The fuzzer is a programme of its own, for machines that have atheris."""

collect_ignore = ["model_files.py"]
