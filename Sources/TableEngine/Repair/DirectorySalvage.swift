import CShims

/// First half of the walk: which sub-tables there are, and which prefixes are theirs.
///
/// Every directory word names a sub-table and, by its depth, the words that must be equal to it. A group of such words
/// is believed if they are all there and the entries in the sub-table belong to the prefix; then one that is mostly
/// there, which restores the rest of its words. What no group covers leads nowhere.
struct DirectorySalvage {
  let salvage: TableSalvage

  private var data: MappedMemory { salvage.data }

  private struct Group {
    let word: DirectoryWord
    let first: Int
    let span: Int
    var votes = 0
    var matches = 0
    var strays = 0
    var isFull: Bool { votes == span }
    var isMost: Bool { votes * 2 > span }

    /// The order in which groups are believed; nil: never.
    var rank: Int? {
      if matches > 0, matches >= strays {
        if isFull { return 0 }
        if isMost { return 1 }
        if strays == 0 { return 2 }
      }
      if matches == 0, strays == 0 { return isFull ? 4 : isMost ? 3 : nil }
      return nil
    }
  }

  func run() {
    let root = TableSalvage.Level(offset: DataLayout.root, bits: DataLayout.rootBits, above: 0, prefix: 0)
    var taken = [Bool](repeating: false, count: 1 << root.bits)
    var nodes: [TableSalvage.Level] = []
    for index in taken.indices {
      guard let node = node(DirectoryWord(data.loadRelaxed(root.offset + index * 8)), prefix: UInt64(index)),
        salvage.map.enter(node.offset, byteCount: DirectoryWord.nodeByteCount(bits: node.bits))
      else { continue }
      taken[index] = true
      nodes.append(node)
    }
    divide(root, &taken)
    for node in nodes {
      var taken = [Bool](repeating: false, count: 1 << node.bits)
      divide(node, &taken)
    }
  }

  /// The node that a root word names: one of which most words could be sub-tables', or were written by a repair that did
  /// not come to its end. Without the latter that repair would take words from a node which it believed, and the next
  /// walk would give up the whole node.
  private func node(_ word: DirectoryWord, prefix: UInt64) -> TableSalvage.Level? {
    let above = DataLayout.rootBits
    guard word.isNode, !word.hasImpossibleBits,
      (1...(SubTable.maximumDepth - above)).contains(word.bits),
      salvage.map.isPlace(word.offset, byteCount: word.nodeByteCount)
    else { return nil }
    let level = TableSalvage.Level(offset: word.offset, bits: word.bits, above: above, prefix: prefix)
    var good = 0
    for index in 0..<(1 << word.bits) {
      let word = DirectoryWord(data.loadRelaxed(word.offset + index * 8))
      if isPlausible(word, level) || leadsNowhere(word, level) { good += 1 }
    }
    return good * 2 > 1 << word.bits ? level : nil
  }

  private func isPlausible(_ word: DirectoryWord, _ level: TableSalvage.Level) -> Bool {
    !word.isNode && !word.hasImpossibleBits && word.bits >= level.lowest && word.bits <= level.depth
      && salvage.map.isPlace(word.offset, byteCount: word.isDeep ? SubTable.deepByteCount : SubTable.byteCount)
  }

  /// A word by which a repair has led readers of a lost part to the beginning of the log.
  private func leadsNowhere(_ word: DirectoryWord, _ level: TableSalvage.Level) -> Bool {
    word.raw == DirectoryWord(subTable: DataLayout.log, depth: word.bits).raw
      && (level.lowest...level.depth).contains(word.bits)
  }

  private func divide(_ level: TableSalvage.Level, _ taken: inout [Bool]) {
    var groups: [UInt64: Group] = [:]
    for index in taken.indices where !taken[index] {
      let word = DirectoryWord(data.loadRelaxed(level.offset + index * 8))
      guard isPlausible(word, level) else { continue }
      let span = 1 << (level.depth - word.bits)
      let first = index & ~(span - 1)
      // The same word under two prefixes makes two groups.
      groups[word.raw &+ UInt64(first) &* 0x9e37_79b9_7f4a_7c15, default: Group(word: word, first: first, span: span)]
        .votes += 1
    }
    var ranked: [(rank: Int, group: Group)] = []
    for group in groups.values {
      var group = group
      weigh(&group, home(group, level))
      if let rank = group.rank { ranked.append((rank, group)) }
    }
    ranked.sort { ($0.rank, $0.group.first, $0.group.span) < ($1.rank, $1.group.first, $1.group.span) }
    for (_, group) in ranked { accept(group, level, &taken) }
    fill(level, taken)
  }

  private func home(_ group: Group, _ level: TableSalvage.Level) -> TableSalvage.Home {
    let prefix = (level.prefix << UInt64(level.bits) | UInt64(group.first)) >> UInt64(level.depth - group.word.bits)
    return TableSalvage.Home(word: group.word, prefix: prefix, subTables: [group.word.offset])
  }

  private func weigh(_ group: inout Group, _ home: TableSalvage.Home) {
    var counts = (matches: 0, strays: 0)
    salvage.forEachWord(home) { word, _, bucket in
      if case .lost = salvage.find(word, bucket: bucket, in: home) {
        counts.strays += 1
      } else {
        counts.matches += 1
      }
    }
    (group.matches, group.strays) = counts
  }

  private func accept(_ group: Group, _ level: TableSalvage.Level, _ taken: inout [Bool]) {
    let span = group.first..<(group.first + group.span)
    let byteCount = group.word.isDeep ? SubTable.deepByteCount : SubTable.byteCount
    guard !taken[span].contains(true), salvage.map.enter(group.word.offset, byteCount: byteCount) else { return }
    for index in span {
      taken[index] = true
      let offset = level.offset + index * 8
      if data.loadRelaxed(offset) != group.word.raw { salvage.stores[offset] = group.word.raw }
    }
    var home = home(group, level)
    if group.word.isDeep { followLinks(&home) }
    salvage.homes.append(home)
  }

  private func followLinks(_ home: inout TableSalvage.Home) {
    while true {
      let link = home.subTables.last! + SubTable.link
      let next = data.loadRelaxed(link)
      if next == 0 { return }
      guard next < UInt64(salvage.map.limit), salvage.map.enter(Int(next), byteCount: SubTable.deepByteCount) else {
        salvage.dropped += 1
        salvage.lose("the keys behind the link at \(link): it leads nowhere")
        return salvage.stores[link] = 0
      }
      home.subTables.append(Int(next))
    }
  }

  /// Words that no group covers, in the largest aligned runs.
  private func fill(_ level: TableSalvage.Level, _ taken: [Bool]) {
    var index = 0
    while index < taken.count {
      guard !taken[index] else {
        index += 1
        continue
      }
      var bits = 0
      while bits < level.depth - level.lowest, index & ((2 << bits) - 1) == 0,
        !taken[index..<(index + (2 << bits))].contains(true)
      {
        bits += 1
      }
      let count = 1 << bits
      let offset = level.offset + index * 8
      salvage.vacancies.append(TableSalvage.Vacancy(offset: offset, count: count, depth: level.depth - bits))
      salvage.lostPrefixes += count << (SubTable.maximumDepth - level.depth)
      salvage.lose(
        "the keys of \(count) in \(1 << level.depth) parts of the index: the directory words at \(offset) lead nowhere")
      index += count
    }
  }
}
