import LibraryStorage
import StorageSPI
import Testing

@Suite struct LibraryPluginTests {
  @Test func aMissingLibraryIsSaidToBeMissing() {
    #expect(throws: StorageError.self) { _ = try LibraryPlugin(loading: "/nonexistent/libcachectl-none.so") }
  }
}
