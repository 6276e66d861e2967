"""Model files on the Hugging Face Hub; needs huggingface_hub."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..estimators import load

MISSING = "This needs the package huggingface_hub: pip install huggingface_hub."
FILE = "model.kf"


def push_to_hub(
    model: Any, repository: str, *, file: str = FILE, private: bool = False, **options: Any
) -> Any:
    """Upload a fitted model; return what the Hub answers.

    Parameters
    ----------
    model : estimator
        Fitted.
    repository : str
        "owner/name"; made if it is not there.
    file : str
        The name of the model file.
    private : bool
        Whether a new repository is private.
    options
        Of ``HfApi.upload_folder``, such as ``commit_message``.
    """
    api = _hub().HfApi()
    api.create_repo(repository, private=private, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / file)
        (Path(folder) / "README.md").write_text(_card(model, repository, file), encoding="utf-8")
        return api.upload_folder(repo_id=repository, folder_path=folder, **options)


def load_from_hub(repository: str, *, file: str = FILE, **options: Any) -> Any:
    """Download a model file and load it; options are those of ``hf_hub_download``, such as ``revision``."""
    return load(_hub().hf_hub_download(repository, file, **options))


def _card(model: Any, repository: str, file: str) -> str:
    labels = ", ".join(str(label) for label in model.classes_[:20].tolist())
    more = f" and {len(model.classes_) - 20} more" if len(model.classes_) > 20 else ""
    return (
        "---\nlibrary_name: kernelfields\n---\n\n"
        f"# {repository}\n\nA `{type(model).__name__}` with {len(model.classes_)} labels: {labels}{more}.\n\n"
        "```python\nfrom kernelfields.compat.hub import load_from_hub\n\n"
        f'model = load_from_hub("{repository}", file="{file}")\n```\n'
    )


def _hub() -> Any:
    try:
        import huggingface_hub  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise InputError(MISSING) from error
    return huggingface_hub
