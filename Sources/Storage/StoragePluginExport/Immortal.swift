/// Copies that are never freed, for everything that a table points to.
enum Immortal {
  /// A copy of `elements`, in one block.
  static func copy<Element>(of elements: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
    copy.initialize(from: elements, count: elements.count)
    return UnsafePointer(copy)
  }

  /// A zero-terminated copy of `text`.
  static func text(_ text: String) -> UnsafePointer<CChar> { copy(of: Array(text.utf8CString)) }

  /// A copy of `texts`, terminated by a null pointer.
  static func list(_ texts: [String]) -> UnsafePointer<UnsafePointer<CChar>?> {
    copy(of: texts.map { Optional(text($0)) } + [nil])
  }
}
