internal import ArgumentParser
internal import Glibc

// The main thread waits for signals, the command runs beside it: so a signal can cancel it. Signals are blocked first,
// for threads inherit that.
Interruption.blockSignals()
let command = Task.detached {
  let status = await Tool.run(arguments: Array(CommandLine.arguments.dropFirst()))
  exit(Interruption.status ?? status.rawValue)
}
Interruption.watch { command.cancel() }
