internal import ArgumentParser

Interruption.run { await Tool.run(arguments: Array(CommandLine.arguments.dropFirst())) }
