internal import StorageSPI

extension PlistFolder {
  /// Inspects the store without taking the lock, and without creating or changing anything.
  func inspect() throws(CacheError) -> StoreInspection {
    switch try status(of: path)?.kind {
    case nil: return inspection([], format: nil)
    case .folder: break
    default: return inspection([path], format: nil)
    }
    let names = try names().filter(isPart).sorted()
    let namespaces = names.compactMap { Self.namespace(ofFile: $0) }
    // A store without entries has the current format.
    guard !namespaces.isEmpty else {
      return inspection(paths(names), format: names.isEmpty ? nil : PlistDecoder.format)
    }
    var formats: [Int] = []
    for namespace in namespaces { if let format = try format(of: namespace) { formats.append(format) } }
    return inspection(paths(names), format: formats.max())
  }

  private func paths(_ names: [String]) -> [String] { names.map { path + "/" + $0 } }

  private func inspection(_ files: [String], format: Int?) -> StoreInspection {
    StoreInspection(path: path, files: files, format: format, currentFormat: PlistDecoder.format)
  }

  /// The format version of the file of `namespace`; `nil` if it is unknown. Cost: reading the start of the file if the
  /// version comes first, as this engine writes it; otherwise reading the whole file.
  private func format(of namespace: String) throws(CacheError) -> Int? {
    let path = path(of: namespace)
    guard try status(of: path)?.kind == .regular else { return nil }
    if let head = try read(path, atMost: 64)?.bytes, let format = Self.format(ofBeginning: head) { return format }
    guard let content = try read(path) else { return nil }
    return (try? PlistDecoder.decode(content.bytes, namespace: namespace)) == nil ? nil : PlistDecoder.format
  }

  private static func format(ofBeginning bytes: [UInt8]) -> Int? {
    var json = JSONReader(bytes)
    guard json.skip(UInt8(ascii: "{")), (try? json.string()) == "format", json.skip(UInt8(ascii: ":")) else {
      return nil
    }
    // If the number ends the bytes read so far, it may go on behind them.
    guard let format = try? json.integer(), json.next != nil else { return nil }
    return format
  }
}
