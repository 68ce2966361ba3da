import Testing

@testable import EngineBenchmark

struct BenchmarkProbeTests {
  @Test func theSystemsClockGoesForwardAndIsWaitedFor() {
    let probe = BenchmarkProbe.system
    let start = probe.now()
    probe.waitUntil(start + 200_000)
    #expect(probe.now() >= start + 200_000)
    probe.waitUntil(start)
    #expect(probe.processorNanoseconds() > 0)
  }

  /// In a process of its own: what other tests take and give back would be counted here.
  @Test func theSystemTellsThePeakOfTheMemory() async throws {
    await #expect(processExitsWith: .success) {
      let probe = BenchmarkProbe.system
      #expect(probe.resetPeakMemory())
      let before = try #require(probe.peakMemoryBytes())
      let size = 48 << 20
      let bytes = [UInt8](repeating: 1, count: size)
      let peak = try #require(probe.peakMemoryBytes())
      #expect(peak >= before + size / 2 && bytes[size - 1] == 1)
      #expect(try #require(probe.residentBytes()) > 0)
    }
  }

  @Test func theMachineIsDescribed() {
    let machine = BenchmarkMachine.current(folder: "/proc")
    #expect(machine.fileSystem == "proc" && machine.kernel.hasPrefix("Linux "))
    #expect(machine.processors >= 1 && machine.memoryBytes > 1 << 20)
  }

  @Test(arguments: [
    ("/", "overlay"), ("/home", "overlay"), ("/tmp", "tmpfs"), ("/tmp/x", "tmpfs"), ("/tmpfoo", "overlay"),
    ("/tmp/b/c", "ext4"),
  ])
  func theFileSystemIsThatOfTheNearestMount(folder: String, type: String) {
    let mounts = ["none / overlay rw", "none /tmp ext2 rw", "none /tmp tmpfs rw", "disk /tmp/b ext4 rw", "broken"]
    #expect(BenchmarkMachine.fileSystem(of: folder, mounts.map { $0[...] }) == type)
  }

  @Test func aFileThatIsNotThereHasNoLines() {
    #expect(SystemFile.lines("/proc/no-such-file").isEmpty)
    #expect(BenchmarkMachine.value(of: "model name", in: ["a : b", "model name\t: X 9"]) == "X 9")
  }
}
