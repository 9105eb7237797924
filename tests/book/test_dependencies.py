"""A notebook depends on the modules that it imports, directly or through others, and on no more."""

from __future__ import annotations

from pathlib import Path

from lib.book.dependencies import files_behind


def test_imports_are_followed_through_modules_and_functions(tmp_path: Path):
    files = {
        "lib/__init__.py": "",
        "lib/a/__init__.py": "",
        "lib/a/first.py": "from lib.a import second",
        "lib/a/second.py": "def late():\n    import lib.third",
        "lib/third.py": "NAME = 1",
        "lib/other.py": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    behind = files_behind("import json\nfrom lib.a.first import thing", tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in behind] == sorted(set(files) - {"lib/other.py"})
