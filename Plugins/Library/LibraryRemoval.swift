internal import CCachectlPlugin
internal import Glibc
internal import StorageSPI

extension LibraryTable {
  /// Makes the library remove the store that `configuration` describes.
  func removeStore(
    _ configuration: EngineConfiguration, _ remove: LibraryFunctions.RemoveStore
  ) throws(CacheError) {
    let configuration = try LibraryConfiguration(
      configuration, for: declaration, LibraryClock(configuration.clock))
    try LibraryCall.make(self) { failure in configuration.withConfiguration { remove($0, failure) } }
  }
}

/// Removes a store's files on behalf of a library that cannot.
enum LibraryRemoval {
  static func remove(_ files: [String]) throws(CacheError) {
    for file in files where unlink(file) != 0 && errno != ENOENT {
      throw CacheError(
        [EACCES, EPERM, EROFS].contains(errno) ? .permissionDenied : .ioFailed,
        "\(file) cannot be removed: \(String(cString: strerror(errno)))",
        hint: "check the permissions of its folder")
    }
  }
}
