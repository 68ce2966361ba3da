internal import CCachectlPlugin
internal import StorageSPI

/// A library's report on a store that it does not open.
struct LibraryInspection: LibraryCallState {
  private static let maximumFiles = 1 << 20
  /// The size of an inspection in the first version of the interface, which did not say whether the store exists.
  private static let leastSize = MemoryLayout<cachectl_inspection>.offset(of: \.presence) ?? 56

  private(set) var inspection: StoreInspection?
  var defect: LibraryDefect?

  fileprivate static let callback:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<cachectl_inspection>?) -> Int32 = { context, inspection in
      guard let state = LibraryCall.state(context, .inspection, LibraryInspection.self) else { return LibraryCall.stop }
      return state.pointee.visiting { state throws(LibraryDefect) in try state.visit(inspection) }
    }

  private mutating func visit(_ lent: UnsafePointer<cachectl_inspection>?) throws(LibraryDefect) {
    guard inspection == nil else { throw LibraryDefect("said twice what there is of its store") }
    guard let lent, lent.pointee.size >= Self.leastSize else {
      throw LibraryDefect("said nothing that can be understood of its store")
    }
    inspection = try Self.inspection(lent)
  }

  private static func inspection(
    _ pointer: UnsafePointer<cachectl_inspection>
  ) throws(LibraryDefect) -> StoreInspection {
    // Copy only as much as the library's version of the structure has; the rest stays zero.
    var lent = cachectl_inspection()
    let size = min(pointer.pointee.size, MemoryLayout<cachectl_inspection>.size)
    withUnsafeMutableBytes(of: &lent) { $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: size)) }
    let path = try LibraryText.text(try lent.path.checked("path"), "path")
    guard LibraryText.isLine(path) else { throw LibraryDefect("gave a path that is not one line") }
    guard (-1...Int64(Int32.max)).contains(lent.format), (0...Int64(Int32.max)).contains(lent.current_format) else {
      throw LibraryDefect("gave \(lent.format) and \(lent.current_format) as versions of its format")
    }
    return StoreInspection(
      path: path, exists: try exists(lent.presence), files: try files(lent),
      format: lent.format < 0 ? nil : Int(lent.format),
      currentFormat: Int(lent.current_format), hiddenDamage: try line(lent.hidden_damage, "hidden damage"),
      caution: try line(lent.caution, "caution"))
  }

  /// The text `bytes`; `nil` if it is empty.
  private static func line(_ bytes: cachectl_bytes, _ what: String) throws(LibraryDefect) -> String? {
    guard bytes.length > 0 else { return nil }
    let text = try LibraryText.text(try bytes.checked(what), what)
    guard LibraryText.isLine(text) else { throw LibraryDefect("gave a \(what) that is not one line") }
    return text
  }

  /// `nil` if the files decide.
  private static func exists(_ presence: UInt32) throws(LibraryDefect) -> Bool? {
    switch presence {
    case CACHECTL_AS_FILES_TELL.rawValue: nil
    case CACHECTL_PRESENT.rawValue: true
    case CACHECTL_ABSENT.rawValue: false
    default: throw LibraryDefect("gave \(presence) as the presence of its store")
    }
  }

  private static func files(_ lent: cachectl_inspection) throws(LibraryDefect) -> [String] {
    guard lent.file_count != 0 else { return [] }
    guard (0...maximumFiles).contains(lent.file_count), let first = lent.files else {
      throw LibraryDefect("gave a list of \(UInt(bitPattern: lent.file_count)) files that is none")
    }
    var files: [String] = []
    for file in UnsafeBufferPointer(start: first, count: lent.file_count) {
      let path = try LibraryText.text(try file.checked("path of a file"), "path of a file")
      guard path.hasPrefix("/"), !path.utf8.contains(0) else {
        throw LibraryDefect("gave a path of a file that is not absolute")
      }
      files.append(path)
    }
    return files
  }
}

extension LibraryTable {
  /// The library's report on the store that `configuration` describes.
  func inspection(
    of configuration: EngineConfiguration, _ inspect: LibraryFunctions.Inspect
  ) throws(CacheError) -> StoreInspection {
    let configuration = try LibraryConfiguration(
      configuration, for: declaration, LibraryClock(configuration.clock))
    var state = LibraryInspection()
    try LibraryCall.make(.inspection, self, &state) { context, failure in
      configuration.withConfiguration { inspect($0, LibraryInspection.callback, context, failure) }
    }
    guard let inspection = state.inspection else { throw .defect("said nothing of its store", of: name) }
    return inspection
  }
}
