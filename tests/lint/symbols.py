"""What the folders that do no I/O may call, and that they keep no state of their own.

The compiled archives are asked, not the source: a call that a macro hides is found as well. The release build is the one
to look at, since sanitizers add calls of their own.
"""
import os
import re
import subprocess

PLAIN = {"memchr", "memcmp", "memcpy", "memmem", "memmove", "memrchr", "memset", "strlen",
         # floating point without state
         "ceil", "exp", "exp2", "floor", "fmod", "frexp", "ldexp", "llround", "log", "log2", "lround", "pow", "round", "sqrt",
         "trunc",
         # what a failed assert, the compiler's stack guard and position-independent code refer to
         "__assert_fail", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_"}
HARDENED = re.compile(r"__(mem|str)\w+_chk")  # the plain ones, as _FORTIFY_SOURCE names them

# folder -> the libraries' symbols that it may use besides
LIBRARIES = {
    "base": r"",
    "engine": r"",
    "wire": r"llhttp_\w+|(unsafe_)?yyjson_\w+|inflate\w*",
    "provider": r"(unsafe_)?yyjson_\w+",
}

MUTABLE_SECTIONS = re.compile(r"\.(data|bss|tdata|tbss)(\.(?!rel\.ro).*)?|\*COM\*|COMMON")


def archive_of(build, folder):
    return os.path.join(build, "src", folder, f"libweir_{folder}.a")


def rows(archive, *options):
    """(symbol, section) of each line of nm's table."""
    out = subprocess.run(["nm", "--format=sysv", *options, archive], check=True, capture_output=True, text=True).stdout
    for line in out.split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and cells[0] != "Name":
            yield cells[0], cells[6]


def allowed(folder, symbol):
    return (symbol in PLAIN or symbol.startswith("weir_") or HARDENED.fullmatch(symbol) is not None
            or re.fullmatch(LIBRARIES[folder], symbol) is not None)


def check(build, folders):
    """Yields complaints about the archives of the given folders of a release build."""
    for folder in folders:
        archive = archive_of(build, folder)
        if not os.path.exists(archive):
            yield f"{archive}: not built"
            continue
        for symbol in sorted({s for s, _ in rows(archive, "--undefined-only")}):
            if not allowed(folder, symbol):
                yield f"libweir_{folder}.a: refers to {symbol}, which this folder may not use"
        for symbol, section in sorted(set(rows(archive, "--defined-only"))):
            if MUTABLE_SECTIONS.fullmatch(section):
                yield f"libweir_{folder}.a: {symbol} is state of its own ({section}); keep state in an object that a caller owns"
