internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation
internal import HTTPMessages

/// `fetch url`.
struct FetchURLCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "url", abstract: "Fetch any URL through the cache",
    discussion: """
      The content goes to the standard output as it came, whatever the status; on a terminal only if it is text. With \
      --out it goes to a file, which is written whole or not at all. With --output json, ndjson or csv facts about the \
      answer are printed. Redirections are followed. What may be \
      stored and reused is what HTTP allows: see `cachectl explain url`.

      Examples:
        cachectl fetch url https://example.com/data.json | jq
        cachectl fetch url https://example.com/image.png --out image.png
        cachectl fetch url https://example.com/ --include --header 'Accept: text/*'
        cachectl fetch url https://example.com/items --data @item.json
      """)

  @OptionGroup
  var url: URLOptions

  @Flag(help: "Print the status line and the header fields before the content")
  var include = false

  @Option(help: "Write the content to FILE", completion: .file())
  var out: String?

  @OptionGroup(title: "Fetch options")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let (session, query) = (try Session(global), try url.query)
    try await session.fetching(fetch) { store, writes throws(CacheError) in
      let useCase = session.container.makeURLsDIContainer(store).makeFetchURLUseCase()
      var last: Snapshot<URLAnswer>?
      for try await snapshot in useCase.execute(query, options: fetch.options) {
        writes.note(snapshot)
        last = snapshot
      }
      if let last { try deliver(last, session) }
    }
  }

  private func deliver(_ snapshot: Snapshot<URLAnswer>, _ session: Session) throws(CacheError) {
    let view = URLAnswerView(snapshot, backend: session.configuration.backend)
    let head = include ? FieldText.encode(view.head) : []
    if let out { try AtomicFile.write(head + snapshot.value.body, to: out) }
    guard global.output == .table else { return try global.show(view) }
    for warning in view.warnings { global.warn(warning) }
    if out != nil { return global.remark(view.status) }
    guard Console.output.screen.isTerminal else {
      return try Console.output.write(head + snapshot.value.body)
    }
    guard let text = view.terminalText else {
      throw CacheError(
        .invalidRequest, "the answer is not text, which cannot be shown on a terminal", hint: "redirect it to a file")
    }
    if include { try Console.output.write(view.table(on: Console.output.screen, hasHeader: false)) }
    try Console.output.write(text.isEmpty || text.hasSuffix("\n") ? text : text + "\n")
    global.remark(view.status)
  }
}
