internal import CCachectlPlugin
internal import StorageSPI

/// What a library has said of a store that it does not open.
struct LibraryInspection: LibraryCallState {
  private static let maximumFiles = 1 << 20

  private(set) var inspection: StoreInspection?
  private(set) var defect: LibraryDefect?

  fileprivate static let callback:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<cachectl_inspection>?) -> Int32 = {
      guard let state = LibraryCall.state($0, .inspection, LibraryInspection.self) else { return LibraryCall.stop }
      return state.pointee.visit($1)
    }

  private mutating func visit(_ lent: UnsafePointer<cachectl_inspection>?) -> Int32 {
    guard defect == nil else { return LibraryCall.stop }
    do throws(LibraryDefect) {
      guard inspection == nil else { throw LibraryDefect("said twice what there is of its store") }
      guard let lent, lent.pointee.size >= MemoryLayout<cachectl_inspection>.size else {
        throw LibraryDefect("said nothing that can be understood of its store")
      }
      inspection = try Self.inspection(lent.pointee)
      return LibraryCall.goOn
    } catch {
      defect = error
      return LibraryCall.stop
    }
  }

  private static func inspection(_ lent: cachectl_inspection) throws(LibraryDefect) -> StoreInspection {
    let path = try LibraryText.text(try lent.path.checked("path"), "path")
    guard LibraryText.isLine(path) else { throw LibraryDefect("gave a path that is not one line") }
    guard (-1...Int64(Int32.max)).contains(lent.format), (0...Int64(Int32.max)).contains(lent.current_format) else {
      throw LibraryDefect("gave \(lent.format) and \(lent.current_format) as versions of its format")
    }
    return StoreInspection(
      path: path, files: try files(lent), format: lent.format < 0 ? nil : Int(lent.format),
      currentFormat: Int(lent.current_format))
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
  /// What there is of the store that `configuration` describes.
  func inspection(
    of configuration: EngineConfiguration, _ inspect: LibraryFunctions.Inspect
  ) throws(StorageError) -> StoreInspection {
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
