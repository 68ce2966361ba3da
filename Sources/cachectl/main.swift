internal import ArgumentParser
internal import Glibc

/// The command runs in a task of its own, so that a signal can cancel it.
let command = Task { await Tool.run(arguments: Array(CommandLine.arguments.dropFirst())) }
let interruption = Interruption(of: command)
let status = await command.value
exit(interruption.status ?? status.rawValue)
