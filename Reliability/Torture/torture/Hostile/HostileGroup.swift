/// Chapter 8: contents that no writer of ours makes (G8).
let hostileGroup = Group(
  number: 8, title: "Damaged and hostile contents",
  columns: ["tried", "times", "ended in an error", "edges reached", "a second"],
  items: [
    Item("fuzz.observer", "libFuzzer changes the data object under an observer") { run in
      try fuzz(run, "observer", executions: 2_000_000)
    },
    Item("fuzz.attach", "libFuzzer changes the control object, and cuts both short, under who attaches") { run in
      try fuzz(run, "attach", executions: 9_000_000)
    },
    Item("fuzz.scribble", "A process scribbles over the data object while observers read", scribble),
  ])
