"""The files of the source tree, as every check reads them."""
import os
import subprocess


class Tree:
    """A folder laid out like the repository. In a git work tree the files are those that git knows or would add."""

    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.paths = sorted(self._list())

    def _list(self):
        if os.path.exists(os.path.join(self.root, ".git")):
            out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=self.root, check=True,
                                 capture_output=True, text=True).stdout
            return {p for p in out.split("\0") if p and os.path.isfile(self.full(p))}
        return {os.path.relpath(os.path.join(folder, name), self.root)
                for folder, _, names in os.walk(self.root) for name in names}

    def full(self, path):
        return os.path.join(self.root, path)

    def under(self, *folders, ending=(".c", ".h")):
        """Paths below any of the folders with one of the endings."""
        return [p for p in self.paths if p.endswith(ending) and any(p.startswith(f + "/") for f in folders)]

    def c_files(self):
        return [p for p in self.paths if p.endswith((".c", ".h"))]

    def lines(self, path):
        with open(self.full(path), encoding="utf-8", newline="") as file:
            return file.read().split("\n")
