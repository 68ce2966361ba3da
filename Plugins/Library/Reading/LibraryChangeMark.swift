internal import CCachectlPlugin
internal import StorageSPI

extension LibraryStore {
  /// Whether the library follows the changes that others make to the store.
  var followsChanges: Bool {
    guard let changeMark = table.functions.changeMark else { return false }
    var (number, age) = (UInt64(0), UInt64(0))
    return changeMark(handle, cachectl_bytes(), &number, &age) >= 0
  }

  /// What the library knows of changes to the entry under `key`; `nil` if it knows nothing at the moment.
  func changeMark(of key: CacheKey) -> ChangeMark? {
    guard let changeMark = table.functions.changeMark else { return nil }
    var (number, age) = (UInt64(0), UInt64(0))
    let answer = key.text.utf8Span.span.withUnsafeBufferPointer { text in
      changeMark(handle, cachectl_bytes(data: text.baseAddress, length: text.count), &number, &age)
    }
    return answer == 1 ? ChangeMark(number: number, age: .milliseconds(Int64(clamping: age))) : nil
  }
}
