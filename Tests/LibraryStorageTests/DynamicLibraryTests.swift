import CacheBase
import Testing

@Suite("A library of the system is loaded, or its failure says how to install it")
struct DynamicLibraryTests {
  @Test func aMissingLibraryIsOneLineAndACommand() {
    let failure = #expect(throws: DynamicLibrary.Failure.self) {
      _ = try DynamicLibrary("libnobody", versions: ["7", "6"], package: "libnobody7")
    }
    #expect(
      failure?.description
        == "libnobody cannot be loaded: cannot open shared object file: No such file or directory")
    #expect(failure?.hint == "install it, on Debian and Ubuntu with: sudo apt-get install libnobody7")
  }

  @Test func aFunctionIsFoundWithItsType() throws {
    // No system has the first version.
    let library = try DynamicLibrary("libc", versions: ["1000", "6"], package: "libc6")
    let length: @convention(c) (UnsafePointer<CChar>) -> Int = try library.function("strlen")
    #expect(length("four") == 4)
  }

  @Test func aMissingFunctionIsAFailure() throws {
    let library = try DynamicLibrary("libc", versions: ["6"], package: "libc6")
    let failure = #expect(throws: DynamicLibrary.Failure.self) {
      let _: @convention(c) () -> Void = try library.function("nobody_defines_this")
    }
    #expect(failure?.description == "libc has no function nobody_defines_this")
    #expect(failure?.hint.contains("libc6") == true)
  }
}
