internal import StorageSPI

/// Removes a store's files, whatever their state. It writes nothing, so it works on a full disk.
enum PlistRemoval {
  static func run(
    _ options: PlistOptions, fileSystem: any FileSystem = SystemFileSystem(), timer: any PlistTimer = SystemTimer()
  ) throws(CacheError) {
    let folder = PlistFolder(path: options.path, fileSystem: fileSystem)
    guard try folder.status(of: folder.path) != nil else { return }
    var clearance = PlistClearance(folder: folder, suffix: ".aside")
    try clearance.moveUnlessFile(folder.lockPath)
    let lock = PlistLock(folder: folder, wait: PlistWait(timeout: options.busyTimeout, timer: timer))
    try lock.hold(exclusively: true) { () throws(CacheError) in
      // The journal goes first: without it, none of the files that it names can come back.
      let names = try folder.names().filter { folder.isPart($0) && $0 != PlistFolder.lockName }
      for path in [folder.journalPath] + names.map({ folder.path + "/" + $0 }) {
        try clearance.moveUnlessFile(path)
        try folder.remove(path)
      }
    }
  }
}
