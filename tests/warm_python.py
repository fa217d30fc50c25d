"""An interpreter that has imported spaCy and the package already, for tests of many processes.

`python -m spacy …` spends more time on imports than on most of what the tests ask of it. Here a
server imports once and forks for each command: a process of its own, with the folder, environment
and standard streams of the caller, as after the imports of any other. `executable` gives the path
of a program to call in place of `sys.executable` for ``-m spacy``, code (``-c``) and scripts, also
with ``-W error`` and with further folders in front of PYTHONPATH; what is anything else, such as
``-m pip``, code that names multiprocessing, or what asks for another path of imports, is passed on
to the real interpreter. A command that is killed takes the program with it; signals to the program,
and limits set on it, do not reach the command.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import random
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import warnings
from contextlib import suppress
from copy import deepcopy
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from unittest import mock

import catalogue  # type: ignore[import-untyped]
from quick_msgpack import remember_encoders
from srsly import _yaml_api

# Starts in a hundredth of a second, as it imports next to nothing.
CLIENT = """\
#!{python} -IS
import os, signal, sys
python, at = {python!r}, {address!r}
same = all(os.environ.get(name) == value for name, value in {same!r}.items())
path = ":" + os.environ.get("PYTHONPATH", "")
strict = sys.argv[1:3] == ["-W", "error"]
command = (sys.argv[3:] if strict else sys.argv[1:]) or [""]
taken = command[:2] == ["-m", "spacy"] or command[:1] == ["-c"] or command[0][:1] not in ("", "-")
# Its processes inherit files, which no server has.
spawns = command[:1] == ["-c"] and "multiprocessing" in command[1]
if not same or not path.endswith({path!r}) or not taken or spawns:
    os.execv(python, [python, *sys.argv[1:]])
import _socket, array, json
server = _socket.socket(_socket.AF_UNIX)
server.connect(at)
request = json.dumps([strict, command, os.getcwd(), dict(os.environ)]).encode()
header = len(request).to_bytes(8, "big")
server.sendmsg([header], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
server.sendall(request)
code = server.recv(4)
if len(code) != 4:
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(int.from_bytes(code, "big"))
"""

# What an interpreter reads when it starts, and a fork cannot change.
AT_START = ("PYTHONWARNINGS", "PYTHONHASHSEED", "PYTHONSTARTUP")


@cache
def executable() -> str:
    """The path of the program; the server behind it is started by the first call."""
    if os.name != "posix":
        return sys.executable
    folder = tempfile.TemporaryDirectory(prefix="warm-python-")
    client, address = Path(folder.name, "python"), str(Path(folder.name, "socket"))
    environment = {**os.environ, "PYTHONUTF8": "1"}
    same = {name: environment.get(name) for name in AT_START}
    path = f":{os.environ['PYTHONPATH']}" if os.environ.get("PYTHONPATH") else ""
    code = CLIENT.format(python=sys.executable, address=address, same=same, path=path)
    client.write_text(code, "utf-8")
    client.chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, "-W", "error", __file__, address, str(client)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=environment,
    )
    atexit.register(folder.cleanup)
    # In turn the other way round. Waited for, its time counts as that of the tests.
    atexit.register(server.wait)
    atexit.register(server.terminate)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return str(client)


def serve(address: str, client: str) -> None:
    """Import, listen at an address, and run each command that comes in a process of its own."""
    import_commands()
    remember_encoders()
    remember_yaml()
    # What is here is looked through by no collector of a process, and so not copied for it.
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(16)
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, reap)
        while True:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                code = answer(connection, client)
                connection.sendall(code.to_bytes(4, "big"))
                os._exit(0)
            connection.close()


def import_commands() -> None:
    """Import spaCy's commands and ours, with what they import when they are called."""
    # The folder of a project is by default the working directory, which is asked for on import.
    with mock.patch.object(Path, "cwd", Path):
        from spacy.cli import _util as commands
    import spacy

    import spacy_structreg.cli
    import spacy_structreg.pipeline

    for package in (spacy_structreg.cli, spacy_structreg.pipeline):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    # The factories of components are imported by the first pipeline.
    spacy.blank("zh")
    # All commands with their parameters are read for each call, which is most of what is left.
    commands.get_command = cache(commands.get_command)
    commands.registry.cli.get_all()
    commands.get_command(commands.app)


def remember_yaml() -> None:
    """Parse a text once: each command of a workflow reads its project anew, for 20 ms and more."""
    loaded = cache(_yaml_api.yaml_loads)
    _yaml_api.yaml_loads = lambda data: deepcopy(
        loaded(data if isinstance(data, str) else data.read())
    )


def look_in(folders: list[str]) -> None:
    """Find packages of folders, and their entry points, in front of what the server knows."""
    from spacy.cli import _util as commands

    from spacy_structreg.pipeline.task import all_tasks

    sys.path[1:1] = folders
    catalogue.AVAILABLE_ENTRY_POINTS = metadata.entry_points()
    all_tasks.cache_clear()
    commands.get_command.cache_clear()


def reap(*_: object) -> None:
    """Wait for the commands that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def answer(connection: socket.socket, client: str) -> int:
    """Run the command that a connection asks for; returns its exit code."""
    header, streams, _, _ = socket.recv_fds(connection, 8, 3)
    size = int.from_bytes(header, "big")
    request = b""
    while len(request) < size:
        request += connection.recv(size - len(request))
    strict, command, folder, environment = json.loads(request)
    if not strict:
        # The server runs under the option itself, so that it holds for imports as well.
        warnings.filters.remove(("error", None, Warning, None, 0))
        sys.warnoptions.clear()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    known = os.environ.get("PYTHONPATH", "")
    path = environment.get("PYTHONPATH", "").removesuffix(known).split(os.pathsep)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.executable = client
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    random.seed()
    try:
        if folders := [*filter(None, path)]:
            look_in(folders)
        run(command, folder)
        code: object = 0
    except SystemExit as error:
        code = error.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if not (code is None or isinstance(code, int)):
        print(code, file=sys.stderr)
    # Left out by the way in which a fork ends.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return 0 if code is None else code & 0xFF if isinstance(code, int) else 1


def run(command: list[str], folder: str) -> None:
    """Run spaCy, code or a script with its arguments, as the interpreter would."""
    first, *others = command
    if first == "-m":
        sys.argv, sys.path[0] = others, folder
        runpy.run_module(others[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        code, *arguments = others
        sys.argv, sys.path[0] = ["-c", *arguments], ""
        exec(code, {"__name__": "__main__"})
    else:
        # Of a folder, that is what is put on the path.
        sys.argv, sys.path[0] = command, str(Path(first).resolve().parent)
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    serve(*sys.argv[1:])
