// Protected names of package managers, build tools, toolchains and interpreters.
import { readEntries } from './entry.js'

export const PACKAGE_NAMES = readEntries(`
# JavaScript
root package.json: npm, yarn and pnpm run its scripts <https://docs.npmjs.com/cli/using-npm/scripts>
project .npmrc:
  npm and pnpm run programs that it names (script-shell, git, node-options)
  <https://docs.npmjs.com/cli/using-npm/config>
project .npm-init.js: npm init loads it as code <https://docs.npmjs.com/cli/using-npm/config#init-module>
project .yarnrc .yarnrc.yml .yarn/releases .yarn/plugins:
  yarn runs the release and the plugins that it names <https://yarnpkg.com/configuration/yarnrc>
project pnpm-workspace.yaml .config/pnpm:
  pnpm takes shells, hooks, registries and plugins from it <https://pnpm.io/settings>
project .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js .pnp.cjs .pnp.js .pnp.loader.mjs:
  pnpm or node loads it as code <https://pnpm.io/pnpmfile>
project bunfig.toml .bunfig.toml: bun preloads the modules that it names <https://bun.sh/docs/runtime/bunfig>

# Python
project .venv venv .virtualenvs:
  its interpreter and start-up files run with every command of the environment
  <https://docs.python.org/3/library/venv.html>
project sitecustomize.py usercustomize.py:
  python runs it at every start where its folder is on the path of modules <https://docs.python.org/3/library/site.html>
project .pdm-python: pdm runs the interpreter that it names <https://pdm-project.org/latest/usage/venv/>
project .pip .config/pip .config/uv .config/pypoetry .condarc .mambarc:
  pip, uv, poetry or conda installs from where it says <https://pip.pypa.io/en/stable/topics/configuration/>
project .pydistutils.cfg:
  distutils loads the commands that it names <https://setuptools.pypa.io/en/latest/deprecated/distutils/configfile.html>
project .ipython/profile_default/startup .ipython/profile_default/ipython_config.py .pythonrc .pythonrc.py:
  ipython or python runs it at every start
  <https://ipython.readthedocs.io/en/stable/interactive/tutorial.html#startup-files>
project .jupyter/jupyter_config.py .jupyter/jupyter_config.json .jupyter/jupyter_server_config.py
  .jupyter/jupyter_server_config.json .jupyter/jupyter_notebook_config.py .jupyter/jupyter_notebook_config.json
  .jupyter/jupyter_lab_config.py .jupyter/jupyter_lab_config.json:
  jupyter runs it, or imports the extensions that it names
  <https://jupyter-server.readthedocs.io/en/latest/users/configuration.html>

# Rust, Go, .NET
project .cargo/config .cargo/config.toml .cargo/env:
  cargo runs the wrappers and runners that it names <https://doc.rust-lang.org/cargo/reference/config.html>
project rust-toolchain rust-toolchain.toml:
  cargo and rustc are taken from the folder that it names
  <https://rust-lang.github.io/rustup/overrides.html#the-toolchain-file>
project .config/go/env:
  go takes compilers, flags and proxies from it <https://pkg.go.dev/cmd/go#hdr-Environment_variables>
root global.json:
  dotnet is taken from the folder that it names <https://learn.microsoft.com/dotnet/core/tools/global-json>
project .nuget/plugins:
  nuget runs the programs in it for credentials
  <https://learn.microsoft.com/nuget/reference/extensibility/nuget-cross-platform-plugins>

# JVM, Ruby, PHP
project .mvn: maven loads the extensions and options that it names <https://maven.apache.org/configure.html>
project .mavenrc .m2/settings.xml .m2/extensions.xml .m2/toolchains.xml:
  maven, or the script that starts it, takes code from where it says <https://maven.apache.org/settings.html>
project .gradle/init.d .gradle/init.gradle .gradle/init.gradle.kts .gradle/gradle.properties:
  gradle runs it before every build <https://docs.gradle.org/current/userguide/init_scripts.html>
project .sbt/1.0/plugins .sbt/1.0/global.sbt .sbt/repositories .lein/profiles.clj .lein/init.clj:
  sbt or leiningen loads the plugins that it names <https://www.scala-sbt.org/1.x/docs/Global-Settings.html>
project .bundle/config .bundle/plugin:
  bundler takes gems and plugins from where it says <https://bundler.io/man/bundle-config.1.html>
project .gemrc .railsrc:
  gem or rails takes options, such as code to load, from it
  <https://guides.rubygems.org/command-reference/#gem-environment>
root composer.json: composer runs its scripts <https://getcomposer.org/doc/articles/scripts.md>
project .composer/config.json .composer/vendor .config/composer/config.json .config/composer/vendor:
  composer loads plugins, and takes packages, from where it says <https://getcomposer.org/doc/03-cli.md#composer-home>

# build tools
project .bazelrc: bazel takes options, such as wrappers and agents of the JVM, from it <https://bazel.build/run/bazelrc>
project tools/bazel .bazelversion .bazeliskrc:
  it is run in the place of bazel, or names the bazel to run <https://github.com/bazelbuild/bazelisk>
project .buckconfig .buckconfig.local .buckconfig.d:
  buck takes compilers and programs from it <https://buck2.build/docs/concepts/buckconfig/>
project .pants.rc:
  pants takes options, such as plugins, from it
  <https://www.pantsbuild.org/stable/docs/using-pants/key-concepts/options>
project .config/ccache .ccache/ccache.conf:
  ccache runs the compiler and the prefix that it names <https://ccache.dev/manual/latest.html#_configuration>
project .config/nix .config/nixpkgs .nixpkgs:
  nix runs the hooks and loads the plugins and overlays that it names
  <https://nix.dev/manual/nix/latest/command-ref/conf-file>

# interpreters and debuggers
project .gdbinit .gdbearlyinit .lldbinit .Rprofile .irbrc .pryrc .rdbgrc .pdbrc .perldb .psqlrc .sqliterc .duckdbrc
  .mongorc.js .mongoshrc.js:
  an interpreter or debugger runs it when started in this folder
  <https://sourceware.org/gdb/current/onlinedocs/gdb.html/Startup.html>
project .Renviron:
  R takes libraries, and so code to load, from it <https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html>
project .config/gdb .config/irb .config/pry .julia/config .iex.exs .ghci .ocamlinit .octaverc:
  a debugger, or the console of an interpreter, runs it
  <https://sourceware.org/gdb/current/onlinedocs/gdb.html/Initialization-Files.html>
`)
