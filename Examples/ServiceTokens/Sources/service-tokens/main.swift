internal import FoundationEssentials
internal import ServiceTokens

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

let tool = ServiceTokensTool(
  environment: ProcessInfo.processInfo.environment, workingDirectory: FileManager.default.currentDirectoryPath,
  readLine: { readLine() })
let outcome = await tool.run(Array(CommandLine.arguments.dropFirst()))
fputs(outcome.output, stdout)
fputs(outcome.error, stderr)
exit(outcome.status)
