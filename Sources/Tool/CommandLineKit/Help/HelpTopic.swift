/// A page of help that is about no single command: `help NAME`.
public struct HelpTopic: Sendable {
  /// The name, in kebab case.
  public let name: String
  /// The purpose of the page, as the help of the root command has it.
  public let abstract: String
  /// The title of the list.
  let title: String
  /// The type of the options that the page lists, if it lists options: the help of a command then refers to the page.
  let options: (any ParsableArguments.Type)?
  private let makeRows: @Sendable () -> [HelpLayout.Row]

  /// A page with a list of names and their meanings.
  public init(
    _ name: String, abstract: String, title: String,
    rows: @autoclosure @escaping @Sendable () -> [(name: String, meaning: String)]
  ) {
    (self.name, self.abstract, self.title, options) = (name, abstract, title, nil)
    makeRows = { rows().map { HelpLayout.Row($0.name, $0.meaning) } }
  }

  /// A page for the options of `type`, which commands have in an option group called `title`.
  public init(_ name: String, abstract: String, title: String, options type: any ParsableArguments.Type) {
    (self.name, self.abstract, self.title, options) = (name, abstract, title, type)
    makeRows = { ArgumentSet(type).named.map(HelpLayout.Row.init) + [HelpLayout.Row("-h, --help", "Show help")] }
  }

  /// The built-in page about `help` itself, which lists the others.
  init(listing topics: [HelpTopic]) {
    (name, abstract, title, options) = ("help", "Show the help of a command", "HELP", nil)
    makeRows = {
      [HelpLayout.Row("help COMMAND", "Show the help of a command")]
        + topics.map { HelpLayout.Row("help \($0.name)", $0.abstract) }
    }
  }

  /// The title and the rows.
  var section: HelpContent.Section { (title.uppercased(), makeRows()) }

  /// The page in the lines of `layout`, ending with a line break.
  func text(_ layout: HelpLayout) -> String { "\(layout.wrapped(abstract))\n\n\(layout.sections([section]))\n" }
}
