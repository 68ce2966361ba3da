internal import CCachectlPlugin
internal import StorageSPI

/// The slots that a library has reported so far.
struct LibraryStatistics: LibraryCallState {
  /// A store has hundreds of slots; a library that reports this many is stuck in a loop.
  private static let maximumSlots = 1 << 22
  /// Sums may not exceed this, so that adding two of them never overflows.
  fileprivate static let maximumSum = 1 << 60

  private(set) var tally = EntryTally()
  private var total = EntryTally.Count()
  private var visits = 0
  var defect: LibraryDefect?

  fileprivate static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<cachectl_slot>?) -> Int32 = {
    context, slot in
    guard let state = LibraryCall.state(context, .statistics, LibraryStatistics.self) else { return LibraryCall.stop }
    return state.pointee.visiting { state throws(LibraryDefect) in try state.visit(slot) }
  }

  private mutating func visit(_ slot: UnsafePointer<cachectl_slot>?) throws(LibraryDefect) {
    visits += 1
    guard visits <= Self.maximumSlots else { throw LibraryDefect("counted more than \(Self.maximumSlots) slots") }
    guard let slot, slot.pointee.size >= MemoryLayout<cachectl_slot>.size else {
      throw LibraryDefect("counted a slot that is none")
    }
    try add(slot.pointee)
  }

  private mutating func add(_ lent: cachectl_slot) throws(LibraryDefect) {
    let slot = try EntryTally.Slot(lent)
    guard lent.entries > 0 || lent.payload_bytes == 0 else { throw LibraryDefect("counted payloads without entries") }
    let count = EntryTally.Count(
      entries: Int(clamping: min(lent.entries, UInt64(Self.maximumSum))),
      payloadBytes: Int(clamping: min(lent.payload_bytes, UInt64(Self.maximumSum))))
    total = total + count
    guard total.entries < Self.maximumSum, total.payloadBytes < Self.maximumSum else {
      throw LibraryDefect("counted more entries or bytes than there can be")
    }
    tally.add(count, to: slot)
  }
}

extension EntryTally.Slot {
  fileprivate init(_ lent: cachectl_slot) throws(LibraryDefect) {
    let namespace = try LibraryText.text(try lent.name_space.checked("namespace"), "namespace")
    guard CacheKey.isNamespace(namespace) else {
      throw LibraryDefect("counted entries of namespace \(LibraryText.cleaned(namespace).debugDescription)")
    }
    let slots = 0...(Timestamp.distantFuture.milliseconds >> EntryTally.slotBits)
    guard slots.contains(lent.fresh_slot), slots.contains(lent.retain_slot) else {
      throw LibraryDefect("counted entries at times that are out of range")
    }
    self.init(namespace: namespace, freshSlot: lent.fresh_slot, retainSlot: lent.retain_slot)
  }
}

extension LibraryStore {
  /// How much the store holds.
  func statistics() throws(CacheError) -> StorageStatistics { try statistics(by: table.functions.statistics) }

  /// What `function` counts, which is called as `statistics` of the table is.
  func statistics(
    by function: (
      OpaquePointer?, cachectl_visit_slot?, LibraryFunctions.Context?, UnsafeMutablePointer<UInt64>?,
      LibraryFunctions.Failure?
    ) -> Int32
  ) throws(CacheError) -> StorageStatistics {
    var state = LibraryStatistics()
    var storageBytes: UInt64 = 0
    try LibraryCall.make(.statistics, table, &state) { context, failure in
      function(handle, LibraryStatistics.callback, context, &storageBytes, failure)
    }
    guard storageBytes <= LibraryStatistics.maximumSum else {
      throw .defect("says that its store takes up \(storageBytes) bytes", of: table.name)
    }
    return StorageStatistics(tally: state.tally, storageBytes: Int(storageBytes))
  }
}
