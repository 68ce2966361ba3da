internal import CCachectlPlugin
internal import StorageSPI

/// An engine's functions: a copy of its table with all required functions present.
struct LibraryFunctions {
  typealias Failure = UnsafeMutablePointer<cachectl_failure>
  typealias Context = UnsafeMutableRawPointer
  typealias Open =
    @convention(c) (UnsafePointer<cachectl_configuration>?, UnsafeMutablePointer<OpaquePointer?>?, Failure?) -> Int32
  typealias Change = @convention(c) (OpaquePointer?, Failure?) -> Int32
  typealias Read =
    @convention(c) (OpaquePointer?, cachectl_bytes, cachectl_visit_entry?, Context?, Failure?) -> Int32
  typealias Apply = @convention(c) (OpaquePointer?, UnsafePointer<cachectl_batch>?, Failure?) -> Int32
  typealias Scan =
    @convention(c) (
      OpaquePointer?, UnsafePointer<cachectl_range>?, cachectl_visit_entry?, Context?, Failure?
    ) -> Int32
  typealias Statistics =
    @convention(c) (
      OpaquePointer?, cachectl_visit_slot?, Context?, UnsafeMutablePointer<UInt64>?, Failure?
    ) -> Int32
  typealias Check = @convention(c) (OpaquePointer?, cachectl_visit_issue?, Context?, Failure?) -> Int32
  typealias Inspect =
    @convention(c) (UnsafePointer<cachectl_configuration>?, cachectl_visit_inspection?, Context?, Failure?) -> Int32
  typealias ApplyEvicting =
    @convention(c) (
      OpaquePointer?, UnsafePointer<cachectl_batch>?, UnsafePointer<CChar>?, UnsafeMutablePointer<UInt64>?, Failure?
    ) -> Int32
  typealias AddUses = @convention(c) (OpaquePointer?, UnsafePointer<cachectl_use>?, Int, Int, Failure?) -> Int32
  typealias ReadAll =
    @convention(c) (
      OpaquePointer?, UnsafePointer<cachectl_bytes>?, Int, cachectl_visit_one?, Context?, Failure?
    ) -> Int32
  typealias ChangeMark =
    @convention(c) (
      OpaquePointer?, cachectl_bytes, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<UInt64>?
    ) -> Int32
  typealias ScanReachable =
    @convention(c) (
      OpaquePointer?, UnsafePointer<cachectl_range>?, cachectl_visit_entry?, Context?, Failure?, Failure?
    ) -> Int32
  typealias ReachableStatistics =
    @convention(c) (
      OpaquePointer?, cachectl_visit_slot?, Context?, UnsafeMutablePointer<UInt64>?, Failure?, Failure?
    ) -> Int32
  typealias RemoveStore = @convention(c) (UnsafePointer<cachectl_configuration>?, Failure?) -> Int32

  let open: Open
  let close: Change
  let read: Read
  let apply: Apply
  let scan: Scan
  let statistics: Statistics
  let checkIntegrity: Check
  let compact: Change
  let releaseMemory: (@convention(c) (OpaquePointer?) -> Void)?
  let inspect: Inspect?
  let removeStore: RemoveStore?
  let readAll: ReadAll?
  let changeMark: ChangeMark?
  /// Both functions of an engine that evicts; `nil` if one of them is missing.
  let eviction: (apply: ApplyEvicting, addUses: AddUses)?
  /// Both functions of an engine that can do without lost servers; `nil` if one of them is missing.
  let reachable: (scan: ScanReachable, statistics: ReachableStatistics)?

  /// The functions in `engine`.
  ///
  /// - Throws: `LibraryDefect` if a required function is missing.
  init(_ engine: cachectl_engine) throws(LibraryDefect) {
    func required<Function>(_ function: Function?, _ name: String) throws(LibraryDefect) -> Function {
      guard let function else { throw LibraryDefect("has no function '\(name)' in its table") }
      return function
    }
    open = try required(engine.open, "open")
    close = try required(engine.close, "close")
    read = try required(engine.read, "read")
    apply = try required(engine.apply, "apply")
    scan = try required(engine.scan, "scan")
    statistics = try required(engine.statistics, "statistics")
    checkIntegrity = try required(engine.check_integrity, "check_integrity")
    compact = try required(engine.compact, "compact")
    releaseMemory = engine.release_memory
    inspect = engine.inspect
    removeStore = engine.remove_store
    readAll = engine.read_all
    changeMark = engine.change_mark
    if let apply = engine.apply_evicting, let addUses = engine.add_uses {
      eviction = (apply, addUses)
    } else {
      eviction = nil
    }
    if let scan = engine.scan_reachable, let statistics = engine.statistics_reachable {
      reachable = (scan, statistics)
    } else {
      reachable = nil
    }
  }
}

extension cachectl_engine {
  /// The size of the smallest table with all required functions.
  private static let minimumSize = MemoryLayout<cachectl_engine>.offset(of: \.release_memory) ?? .max
  /// No valid table is this large: a greater number is something else.
  private static let maximumSize = 65_536

  /// Copies the table at `pointer` as far as it goes; the rest is zero.
  ///
  /// - Throws: `LibraryDefect` if it has another version, or is not a table.
  init(copying pointer: UnsafeRawPointer) throws(LibraryDefect) {
    let size = pointer.loadUnaligned(as: Int.self)
    let abi = pointer.loadUnaligned(fromByteOffset: MemoryLayout<Int>.size, as: UInt32.self)
    guard abi == CACHECTL_PLUGIN_ABI else {
      throw LibraryDefect("is of version \(abi) of the interface, and this is version \(CACHECTL_PLUGIN_ABI)")
    }
    guard (Self.minimumSize...Self.maximumSize).contains(size), size % MemoryLayout<Int>.alignment == 0 else {
      throw LibraryDefect("has a table of \(UInt(bitPattern: size)) bytes, which is no table of version \(abi)")
    }
    self.init()
    withUnsafeMutableBytes(of: &self) { room in
      room.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(size, room.count)))
    }
  }
}
