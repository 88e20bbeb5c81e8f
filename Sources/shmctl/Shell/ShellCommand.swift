import ArgumentParser

struct ShellCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell", abstract: "Run commands one after the other, with history and completion.",
    discussion: """
      What 'shmctl' does on a terminal if no command is given. A line is a command as behind 'shmctl'; words stand between spaces \
      and are spelled as in 'shmctl batch': "two words", \\n, \\xNN. 'use TABLE' chooses the table, 'help' lists the commands, \
      Ctrl-D or 'exit' ends. Tab completes commands, options, keys and tables; the arrow keys walk through former lines that begin \
      with what is typed.

      Lines are kept in $SHMCTL_HISTORY, else ~/.local/state/shmctl/history, which only you may read; one that begins with a space is \
      not. Each command is a process of its own: Ctrl-C ends it and not the shell.
      """)

  @OptionGroup var options: CommonOptions

  func run() throws { try Shell.run(options) }
}
