"""The arrows between the folders: who may include what.

    cli -> gateway -> { state, config, provider, net } -> { engine, wire } -> base
"""
import re

# Headers that stand for the shape of data only; every folder may use them.
LEAVES = {"weir/attr.h", "weir/error.h", "weir/mem.h", "weir/slice.h"}

# folder -> the folders whose headers it may include ("weir" is include/weir), or single headers of them
ALLOWED = {
    "weir": {"weir"},
    "base": {"base"},
    "engine": {"base", "weir", "engine"},
    "wire": {"base", "wire"},
    "provider": {"base", "weir", "wire", "provider"},
    # of a provider, its names, what is known of its models, and what an endpoint consists of; of wire, writing JSON
    # (parameters are kept as JSON text), what a header field may consist of and how a URL is cut
    "config": {"base", "weir", "provider/endpoint.h", "provider/fields.h", "provider/model_facts.h", "provider/model_map.h",
               "provider/parameter.h", "provider/prefill.h", "provider/provider.h",
               "provider/route.h", "provider/sim.h", "provider/tbl/sim_fields.h", "wire/http_field.h", "wire/json_write.h", "wire/url.h",
               "config"},
    "net": {"base", "wire", "net"},
    # of wire, what a character is
    "state": {"base", "weir", "wire/utf8.h", "net", "state"},
    "gateway": {"base", "weir", "wire", "provider", "config", "net", "state", "gateway"},
    # of wire, what a character is, URLs, and what a header may hold
    "cli": {"base", "weir", "wire/http1_read.h", "wire/http_field.h", "wire/url.h", "wire/utf8.h", "provider", "config", "net", "gateway", "cli"},
}

# What of the C library a folder may use that does no I/O, reads no clock and keeps no state.
PURE_SYSTEM = {"assert.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdalign.h", "stdarg.h", "stdatomic.h",
               "stdbool.h", "stddef.h", "stdint.h", "stdnoreturn.h", "string.h"}
PURE = {"base", "engine", "wire", "provider"}
PUBLIC_SYSTEM = {"stdbool.h", "stddef.h", "stdint.h", "stdlib.h"}  # the last for mem_libc.h, the host's allocator

# library header -> the folders that may know the library
LIBRARIES = {
    r"uv\.h|uv/.*": {"net", "state", "gateway", "cli"},
    r"openssl/.*": {"config", "net", "cli"},
    r"llhttp\.h": {"wire", "cli"},
    r"yyjson\.h": {"wire", "provider", "gateway", "cli"},
    r"zlib\.h": {"wire", "cli"},
    r"yaml\.h": {"config", "cli"},
    r"pcre2\.h": {"config", "cli"},
    r"hiredis/read\.h": {"state"},
    r"hiredis/hiredis\.h": {"cli"},  # its version
    r"curses\.h": {"cli"},
    r"emmintrin\.h": {"base", "wire"},  # instructions of the machine, no library
}

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def folder_of(path):
    if path.startswith("include/weir/"):
        return "weir"
    return path.split("/")[1]


def library_fault(folder, name):
    for pattern, users in LIBRARIES.items():
        if re.fullmatch(pattern, name):
            return None if folder in users else f"{folder} may not know the library behind <{name}>"
    if folder in PURE and name not in PURE_SYSTEM:
        return f"{folder} may not include <{name}>"
    if folder == "weir" and name not in PUBLIC_SYSTEM:
        return f"a public header may not include <{name}>"
    return None


def project_fault(folder, name, tree):
    where = f"include/{name}" if name.startswith("weir/") else f"src/{name}"
    if where not in tree.paths:
        return f'"{name}" is no header of the tree (write it as "folder/name.h")'
    owner = name.split("/")[0]
    if name in LEAVES or owner in ALLOWED[folder] or name in ALLOWED[folder]:
        return None
    return f"{folder} may not include {name}: the arrow points the other way"


def fault(folder, bracket, name, tree):
    if folder not in ALLOWED:
        return f"the folder {folder} has no row in the table of arrows"
    if name.startswith("weir/") and bracket == '"':
        return f"write <{name}>: public headers are included with angle brackets"
    if bracket == "<" and not name.startswith("weir/"):
        return library_fault(folder, name)
    return project_fault(folder, name, tree)


def check(tree):
    """Yields 'path:line: complaint' for each include that runs against an arrow."""
    for path in tree.under("src", "include/weir"):
        if path.count("/") < 2:
            yield f"{path}:1: every source file stands in a folder of src"
            continue
        for number, line in enumerate(tree.lines(path), 1):
            found = INCLUDE.match(line)
            complaint = found and fault(folder_of(path), *found.groups(), tree)
            if complaint:
                yield f"{path}:{number}: {complaint}"
