import CacheBase
import Testing

@testable import EngineBenchmark

struct BenchmarkProbeTests {
  @Test func theClockOfTheSystemAdvances() {
    let probe = BenchmarkProbe.system
    let start = probe.now()
    #expect(probe.now() >= start && start > 0)
    #expect(probe.processorNanoseconds() > 0)
  }

  /// In a separate process, because the memory of other tests would count here.
  @Test func theSystemTellsThePeakOfTheMemory() async throws {
    await #expect(processExitsWith: .success) {
      let probe = BenchmarkProbe.system
      #expect(probe.resetPeakMemory())
      let before = try #require(probe.peakMemoryBytes())
      let size = 48 << 20
      let bytes = [UInt8](repeating: 1, count: size)
      let peak = try #require(probe.peakMemoryBytes())
      #expect(peak >= before + size / 2 && bytes[size - 1] == 1)
      #expect(try #require(probe.trimmedMemoryBytes()) > 0)
    }
  }

  @Test func theMachineIsDescribed() {
    let machine = JSONValue.object(SystemFacts.machine(folder: "/proc"))
    guard case .string(let kernel)? = machine["kernel"], case .integer(let memory)? = machine["memoryBytes"] else {
      Issue.record("\(machine)")
      return
    }
    #expect(machine["fileSystem"] == "proc" && kernel.hasPrefix("Linux ") && memory > 1 << 20)
  }

  @Test(arguments: [
    ("/", "overlay"), ("/home", "overlay"), ("/tmp", "tmpfs"), ("/tmp/x", "tmpfs"), ("/tmpfoo", "overlay"),
    ("/tmp/b/c", "ext4"),
  ])
  func theFileSystemIsTheNearestMount(folder: String, type: String) {
    let mounts = ["none / overlay rw", "none /tmp ext2 rw", "none /tmp tmpfs rw", "disk /tmp/b ext4 rw", "broken"]
    #expect(SystemFacts.fileSystem(of: folder, mounts.map { $0[...] }) == type)
  }

  @Test func aFileThatIsNotThereHasNoLines() {
    #expect(SystemFacts.lines("/proc/no-such-file").isEmpty)
    #expect(SystemFacts.value(of: "model name", in: ["a : b", "model name\t: X 9"]) == "X 9")
  }
}
