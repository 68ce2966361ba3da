public import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation
public import CacheCore
internal import EngineAPI

/// `ls`.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List entries",
    discussion: """
      In the order of their keys entries are written as they are read, so that a listing of any length takes no more \
      memory than a short one. A server lists them in an order of its own, unless you pass --sort. If --limit leaves \
      some out, a cursor says so; --cursor continues after it. In another order all that is listed is held in memory \
      until the last entry was looked at. On a terminal keys are cut in the \
      middle to fit; elsewhere they are whole, and tabs stand between the columns.

      Examples:
        cachectl ls --namespace cities
        cachectl ls --limit 100 --cursor cities/v1/page=7
        cachectl ls --state expired --output ndjson
        cachectl ls --match '*/page=0/*' --sort size --limit 10
      """)

  @OptionGroup
  var entries: EntryFlags

  @Option(help: "The order: by key (the default), or the largest, the last stored or the last used first")
  var sort: EntryOrder?

  @Option(help: "Show at most N entries")
  var limit: Int?

  @Option(help: "Continue after CURSOR, a key or the cursor of another listing", completion: .keys)
  var cursor: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if let limit, limit < 1 { throw ValidationError("--limit is 1 or more") }
    if cursor != nil, sort ?? .key != .key {
      throw ValidationError("--cursor goes on in the order of keys: leave --sort out, or take a larger --limit")
    }
  }

  func run() async throws {
    let session = try Session(global)
    var listing = EntriesStream(global.output, on: Console.output.screen)
    let next: String?
    do throws(CacheError) {
      next = try await session.withStore { store throws(CacheError) in
        let write = { (page: [ScannedEntry], readAt: Timestamp) throws(CacheError) in
          try Console.output.write(listing.text(page, now: readAt))
        }
        let (selection, limit) = (entries.selection(), limit ?? .max)
        let isOrdered = store.entries.isOrdered
        if sort == nil || sort == .key && isOrdered {
          if isOrdered, let cursor { _ = try CacheKey(argument: cursor) }
          return try await store.administration.list(selection, after: cursor, limit: limit, write)
        }
        guard cursor == nil else {
          throw CacheError(
            .invalidRequest, "\(session.configuration.backend) lists keys in no order",
            hint: "leave --sort out, or take a larger --limit")
        }
        let sorted = try await store.administration.list(selection, by: sort ?? .key, limit: limit)
        try write(sorted.entries, sorted.readAt)
        return nil
      }
    } catch {
      // What was listed before the damage is a whole document.
      if error.code == .damaged, listing.hasBegun { try Console.output.write(listing.end(cursor: nil)) }
      throw error
    }
    try Console.output.write(listing.end(cursor: next))
    // Only a JSON document has a place for the cursor.
    if global.output == .table || (next != nil && global.output != .json) { global.remark(listing.status) }
  }
}

extension EntryOrder: ExpressibleByArgument {}
