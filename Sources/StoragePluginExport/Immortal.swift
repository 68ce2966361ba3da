/// Copies that are never freed, for what a table points to.
enum Immortal {
  /// `elements` one after another.
  static func copy<Element>(of elements: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
    copy.initialize(from: elements, count: elements.count)
    return UnsafePointer(copy)
  }

  /// `text` with a zero byte after it.
  static func text(_ text: String) -> UnsafePointer<CChar> { copy(of: Array(text.utf8CString)) }

  /// `texts`, ended by a null pointer.
  static func list(_ texts: [String]) -> UnsafePointer<UnsafePointer<CChar>?> {
    copy(of: texts.map { Optional(text($0)) } + [nil])
  }
}
