internal import FetchVocabulary
internal import CachePresentation

extension GlobalOptions {
  /// Shows each of `snapshots` as `view` presents it, as they become known.
  ///
  /// A terminal shows the cached table at once, and updates it in place when the origin responds. If that is not
  /// possible, one table follows the other, each under a line that names its source. Records cannot say which snapshot
  /// they belong to: only the records of the last one are written.
  ///
  /// - Throws: `CacheError`: the fetch failed, and the cached snapshot stays on screen; `ioFailed`.
  func show<Value>(
    _ snapshots: Snapshots<Value>, as view: (Snapshot<Value>) -> SnapshotView
  ) async throws(CacheError) {
    let progress = TransferProgress(of: "the origin", isVisible: showsWaiting && !Console.output.isPipe)
    defer { progress.finish() }
    var iterator = snapshots.makeAsyncIterator()
    guard let first = try await iterator.next() else { return }
    progress.finish()
    guard iterator.hasNext else { return try show(view(first)) }
    var pair = SnapshotPair(first: view(first), global: self)
    try pair.begin()
    do throws(CacheError) {
      // A newer snapshot replaces all earlier ones.
      var last: Snapshot<Value>?
      while let snapshot = try await iterator.next() { last = snapshot }
      try pair.end(with: last.map(view))
    } catch {
      pair.fail()
      throw error
    }
  }

  /// Prints the warnings and the remark of a view that is already on screen.
  fileprivate func tell(_ view: some OutputView) {
    for warning in view.warnings { warn(warning) }
    if let status = view.status { remark(status) }
  }
}

/// Two snapshots of the same resource on one output: the cached one, and the newer one that replaces it.
private struct SnapshotPair {
  private let first: SnapshotView
  private let global: GlobalOptions
  private let waiting: TransientLine
  /// The first table, if it can be replaced.
  private var drawn: DrawnText?

  init(first: SnapshotView, global: GlobalOptions) {
    self.first = first
    self.global = global
    waiting = TransientLine(isVisible: global.showsWaiting)
  }

  /// Shows the first snapshot, and that another is on its way.
  mutating func begin() throws(CacheError) {
    switch global.output {
    case .table: try draw()
    case .json: try global.show(first)
    case .ndjson, .csv: break
    }
    waiting.show(first.waiting.cut(to: Console.error.screen))
  }

  /// Explanations on the same terminal would come between the table and its replacement.
  private mutating func draw() throws(CacheError) {
    let screen = Console.output.screen
    let table = DrawnText(OutputRenderer(.table, on: screen).text(first), on: screen)
    guard table.isReplaceable, !global.verbose else { return try global.show(first, under: first.heading) }
    try Console.output.write(table.text)
    drawn = table
  }

  /// Shows the newer snapshot; without one, the first was the last.
  mutating func end(with last: SnapshotView?) throws(CacheError) {
    waiting.clear()
    guard let last else { return try endWithFirst() }
    guard global.output == .table else { return try global.show(last) }
    guard let drawn else { return try global.show(last, under: last.heading) }
    self.drawn = nil
    let screen = Console.output.currentScreen
    guard screen == drawn.screen,
      let text = drawn.replacement(by: OutputRenderer(.table, on: screen).text(last))
    else {
      // After a resize the drawn table is no longer at its old position.
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

  /// Leaves the first snapshot on screen, with its warnings and its remark.
  mutating func fail() {
    waiting.clear()
    if drawn != nil { global.tell(first) }
    drawn = nil
  }
}
