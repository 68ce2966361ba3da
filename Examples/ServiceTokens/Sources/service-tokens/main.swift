internal import FoundationEssentials
internal import CacheBase
internal import ServiceTokens

/// Writes all of `text`; says whether it could.
func isWritten(_ text: String, to descriptor: Int32) -> Bool {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count > 0 || errno == EINTR else { return false }
    rest = rest.dropFirst(max(count, 0))
  }
  return true
}

let tool = ServiceTokensTool(
  environment: ProcessInfo.processInfo.environment, workingDirectory: FileManager.default.currentDirectoryPath,
  readLine: { readLine() })
let outcome = await tool.run(Array(CommandLine.arguments.dropFirst()))
let isComplete = isWritten(outcome.output, to: STDOUT_FILENO)
_ = isWritten(outcome.error, to: STDERR_FILENO)
exit(outcome.status == 0 && !isComplete ? 74 : outcome.status)
