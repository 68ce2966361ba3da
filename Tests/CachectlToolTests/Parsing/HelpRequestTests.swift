import CommandLineKit
import Testing

@testable import CachectlTool

/// What `help` makes of the words after it.
@Suite struct HelpRequestTests {
  @Test(arguments: [
    ("help", "cachectl <command>"), ("help help", "cachectl help [<command>...]"),
    ("help --help", "cachectl help [<command>...]"), ("help help ls", "cachectl help [<command>...]"),
    ("help ls", "cachectl ls"), ("help ls --help", "cachectl ls"), ("help config show", "cachectl config show"),
    ("help completion bash", "cachectl completion <shell>"), ("--output json help ls", "cachectl ls"),
    ("help show a/b", "cachectl show <key>"),
  ])
  func theCommandIsDescribed(words: String, usage: String) throws {
    let parsed = try CachectlCommand.parseAsRoot(words.split(separator: " ").map(String.init))
    guard case .help(let request) = parsed else {
      Issue.record("\(parsed)")
      return
    }
    #expect(request.text().contains("USAGE\n  \(usage)"), "\(request.text())")
  }

  @Test(arguments: [
    ("help ls --output json", "'help' has no option '--output': it takes the name of a command and nothing else."),
    ("help ls json", "unexpected argument 'json': see 'cachectl help ls'"),
    ("help config sho", "unknown command 'config sho': did you mean 'show'?"), ("help nothing", "unknown command"),
  ])
  func whatMakesNoSenseIsRefused(words: String, message: String) {
    let error = #expect(throws: CommandLineError.self) {
      try CachectlCommand.parseAsRoot(words.split(separator: " ").map(String.init))
    }
    #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
    #expect(error?.exitCode == .validationFailure)
  }
}
