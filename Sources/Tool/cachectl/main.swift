internal import ArgumentParser

StandardStreams.keepClosedOnes()
Interruption.run { await Tool.run(arguments: Array(CommandLine.arguments.dropFirst())) }
