// Protected names of package managers, build tools, toolchains and interpreters.
import { inProject, inRoot } from './entry.js'
import type { ProtectedName } from './entry.js'

const JUPYTER = ['jupyter', 'jupyter_server', 'jupyter_notebook', 'jupyter_lab']

export const PACKAGE_NAMES: readonly ProtectedName[] = [
  // JavaScript
  ...inRoot('npm, yarn and pnpm run its scripts', 'https://docs.npmjs.com/cli/using-npm/scripts', 'package.json'),
  ...inProject(
    'npm and pnpm run programs that it names (script-shell, git, node-options)',
    'https://docs.npmjs.com/cli/using-npm/config',
    '.npmrc',
  ),
  ...inProject('npm init loads it as code', 'https://docs.npmjs.com/cli/using-npm/config#init-module', '.npm-init.js'),
  ...inProject(
    'yarn runs the release and the plugins that it names',
    'https://yarnpkg.com/configuration/yarnrc',
    '.yarnrc .yarnrc.yml .yarn/releases .yarn/plugins',
  ),
  ...inProject(
    'pnpm takes shells, hooks, registries and plugins from it',
    'https://pnpm.io/settings',
    'pnpm-workspace.yaml .config/pnpm',
  ),
  ...inProject(
    'pnpm or node loads it as code',
    'https://pnpm.io/pnpmfile',
    '.pnpmfile.cjs .pnpmfile.mjs pnpmfile.js .pnp.cjs .pnp.js .pnp.loader.mjs',
  ),
  ...inProject(
    'bun preloads the modules that it names',
    'https://bun.sh/docs/runtime/bunfig',
    'bunfig.toml .bunfig.toml',
  ),

  // Python
  ...inProject(
    'its interpreter and start-up files run with every command of the environment',
    'https://docs.python.org/3/library/venv.html',
    '.venv venv .virtualenvs',
  ),
  ...inProject(
    'python runs it at every start where its folder is on the path of modules',
    'https://docs.python.org/3/library/site.html',
    'sitecustomize.py usercustomize.py',
  ),
  ...inProject('pdm runs the interpreter that it names', 'https://pdm-project.org/latest/usage/venv/', '.pdm-python'),
  ...inProject(
    'pip, uv, poetry or conda installs from where it says',
    'https://pip.pypa.io/en/stable/topics/configuration/',
    '.pip .config/pip .config/uv .config/pypoetry .condarc .mambarc',
  ),
  ...inProject(
    'distutils loads the commands that it names',
    'https://setuptools.pypa.io/en/latest/deprecated/distutils/configfile.html',
    '.pydistutils.cfg',
  ),
  ...inProject(
    'ipython or python runs it at every start',
    'https://ipython.readthedocs.io/en/stable/interactive/tutorial.html#startup-files',
    '.ipython/profile_default/startup .ipython/profile_default/ipython_config.py .pythonrc .pythonrc.py',
  ),
  ...inProject(
    'jupyter runs it, or imports the extensions that it names',
    'https://jupyter-server.readthedocs.io/en/latest/users/configuration.html',
    ...JUPYTER.flatMap((name) => [`.jupyter/${name}_config.py`, `.jupyter/${name}_config.json`]),
  ),

  // Rust, Go, .NET
  ...inProject(
    'cargo runs the wrappers and runners that it names',
    'https://doc.rust-lang.org/cargo/reference/config.html',
    '.cargo/config .cargo/config.toml .cargo/env',
  ),
  ...inProject(
    'cargo and rustc are taken from the folder that it names',
    'https://rust-lang.github.io/rustup/overrides.html#the-toolchain-file',
    'rust-toolchain rust-toolchain.toml',
  ),
  ...inProject(
    'go takes compilers, flags and proxies from it',
    'https://pkg.go.dev/cmd/go#hdr-Environment_variables',
    '.config/go/env',
  ),
  ...inRoot(
    'dotnet is taken from the folder that it names',
    'https://learn.microsoft.com/dotnet/core/tools/global-json',
    'global.json',
  ),
  ...inProject(
    'nuget runs the programs in it for credentials',
    'https://learn.microsoft.com/nuget/reference/extensibility/nuget-cross-platform-plugins',
    '.nuget/plugins',
  ),

  // JVM, Ruby, PHP
  ...inProject(
    'maven loads the extensions and options that it names',
    'https://maven.apache.org/configure.html',
    '.mvn',
  ),
  ...inProject(
    'maven, or the script that starts it, takes code from where it says',
    'https://maven.apache.org/settings.html',
    '.mavenrc .m2/settings.xml .m2/extensions.xml .m2/toolchains.xml',
  ),
  ...inProject(
    'gradle runs it before every build',
    'https://docs.gradle.org/current/userguide/init_scripts.html',
    '.gradle/init.d .gradle/init.gradle .gradle/init.gradle.kts .gradle/gradle.properties',
  ),
  ...inProject(
    'sbt or leiningen loads the plugins that it names',
    'https://www.scala-sbt.org/1.x/docs/Global-Settings.html',
    '.sbt/1.0/plugins .sbt/1.0/global.sbt .sbt/repositories .lein/profiles.clj .lein/init.clj',
  ),
  ...inProject(
    'bundler takes gems and plugins from where it says',
    'https://bundler.io/man/bundle-config.1.html',
    '.bundle/config .bundle/plugin',
  ),
  ...inProject(
    'gem or rails takes options, such as code to load, from it',
    'https://guides.rubygems.org/command-reference/#gem-environment',
    '.gemrc .railsrc',
  ),
  ...inRoot('composer runs its scripts', 'https://getcomposer.org/doc/articles/scripts.md', 'composer.json'),
  ...inProject(
    'composer loads plugins, and takes packages, from where it says',
    'https://getcomposer.org/doc/03-cli.md#composer-home',
    '.composer/config.json .composer/vendor .config/composer/config.json .config/composer/vendor',
  ),

  // build tools
  ...inProject(
    'bazel takes options, such as wrappers and agents of the JVM, from it',
    'https://bazel.build/run/bazelrc',
    '.bazelrc',
  ),
  ...inProject(
    'it is run in the place of bazel, or names the bazel to run',
    'https://github.com/bazelbuild/bazelisk',
    'tools/bazel .bazelversion .bazeliskrc',
  ),
  ...inProject(
    'buck takes compilers and programs from it',
    'https://buck2.build/docs/concepts/buckconfig/',
    '.buckconfig .buckconfig.local .buckconfig.d',
  ),
  ...inProject(
    'pants takes options, such as plugins, from it',
    'https://www.pantsbuild.org/stable/docs/using-pants/key-concepts/options',
    '.pants.rc',
  ),
  ...inProject(
    'ccache runs the compiler and the prefix that it names',
    'https://ccache.dev/manual/latest.html#_configuration',
    '.config/ccache .ccache/ccache.conf',
  ),
  ...inProject(
    'nix runs the hooks and loads the plugins and overlays that it names',
    'https://nix.dev/manual/nix/latest/command-ref/conf-file',
    '.config/nix .config/nixpkgs .nixpkgs',
  ),

  // interpreters and debuggers
  ...inProject(
    'an interpreter or debugger runs it when started in this folder',
    'https://sourceware.org/gdb/current/onlinedocs/gdb.html/Startup.html',
    '.gdbinit .gdbearlyinit .lldbinit .Rprofile .irbrc .pryrc .rdbgrc .pdbrc .perldb .psqlrc .sqliterc .duckdbrc',
    '.mongorc.js .mongoshrc.js',
  ),
  ...inProject(
    'R takes libraries, and so code to load, from it',
    'https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html',
    '.Renviron',
  ),
  ...inProject(
    'a debugger, or the console of an interpreter, runs it',
    'https://sourceware.org/gdb/current/onlinedocs/gdb.html/Initialization-Files.html',
    '.config/gdb .config/irb .config/pry .julia/config .iex.exs .ghci .ocamlinit .octaverc',
  ),
]
