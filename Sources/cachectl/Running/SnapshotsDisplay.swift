internal import CacheDomain
internal import CachePresentation

/// Shows the snapshots of a fetch as they become known.
///
/// On a terminal the table of the cached one is drawn at once, and brought up to date in place when the origin has
/// answered. Where it cannot be, one table follows the other, each under a line that says where it came from. Records
/// alone cannot tell which snapshot they are of: only those of the last one are written.
struct SnapshotsDisplay {
  let global: GlobalOptions

  /// Shows what `view` makes of each of `snapshots`.
  ///
  /// - Throws: `CacheError`: of the fetch, after which the cached snapshot stays in sight; `ioFailed`.
  func show<Value, View: SnapshotView>(
    _ snapshots: Snapshots<Value>, as view: (Snapshot<Value>) -> View
  ) async throws(CacheError) {
    var iterator = snapshots.makeAsyncIterator()
    guard let first = try await iterator.next() else { return }
    guard iterator.hasNext else { return try global.show(view(first)) }
    var pair = SnapshotPair(first: view(first), global: global)
    try pair.begin()
    do throws(CacheError) {
      // A newer one takes the place of all before it.
      var last: Snapshot<Value>?
      while let snapshot = try await iterator.next() { last = snapshot }
      try pair.end(with: last.map(view))
    } catch {
      pair.fail()
      throw error
    }
  }
}

/// Two snapshots of the same on one output: the cached one, and the newer one that takes its place.
private struct SnapshotPair<View: SnapshotView> {
  private let first: View
  private let global: GlobalOptions
  private var waiting: TransientLine
  /// The first table, where it can be replaced.
  private var drawn: DrawnText?

  init(first: View, global: GlobalOptions) {
    self.first = first
    self.global = global
    waiting = TransientLine(isVisible: global.showsProgress && !global.verbose)
  }

  /// Shows the first one, and that another is waited for.
  mutating func begin() throws(CacheError) {
    switch global.output {
    case .table: try draw()
    case .json: try global.show(first)
    case .ndjson, .csv: break
    }
    waiting.show(first.waiting.cut(to: Console.error.screen))
  }

  /// Explanations on the same terminal would stand between the table and its replacement.
  private mutating func draw() throws(CacheError) {
    let screen = Console.output.screen
    let table = DrawnText(OutputRenderer(.table, on: screen).text(first), on: screen)
    guard table.isReplaceable, !global.verbose else { return try global.show(first, under: first.heading) }
    try Console.output.write(table.text)
    drawn = table
  }

  /// Shows the newer one; where there is none, the first one was the last.
  mutating func end(with last: View?) throws(CacheError) {
    waiting.clear()
    guard let last else { return try endWithFirst() }
    guard global.output == .table else { return try global.show(last) }
    guard let drawn else { return try global.show(last, under: last.heading) }
    self.drawn = nil
    let screen = Console.output.currentScreen
    guard screen == drawn.screen,
      let text = drawn.replacement(by: OutputRenderer(.table, on: screen).text(last))
    else {
      // What was drawn for another size is no longer where it was.
      global.tell(first)
      return try global.show(last, under: last.heading)
    }
    let newer = Set(last.warnings)
    for warning in first.warnings where !newer.contains(warning) { global.warn(warning) }
    try Console.output.write(text)
    global.tell(last)
  }

  private mutating func endWithFirst() throws(CacheError) {
    switch global.output {
    case .table: fail()
    case .json: break
    case .ndjson, .csv: try global.show(first)
    }
  }

  /// Leaves the first one in sight, with what there is to say about it.
  mutating func fail() {
    waiting.clear()
    if drawn != nil { global.tell(first) }
    drawn = nil
  }
}

extension GlobalOptions {
  /// Prints the warnings and the remark of a view that is in sight already.
  fileprivate func tell(_ view: some OutputView) {
    for warning in view.warnings { warn(warning) }
    if let status = view.status { remark(status) }
  }
}
