/* clang-format off */ /* one row a line */
/*
 * The commands of the program: X(name, function, arguments, what it does)
 */
X("serve", weir_cli_serve, "--config FILE", "answer clients and route their calls to the deployments of FILE")
X("check", weir_cli_check, "[OPTIONS] FILE", "read a configuration, print what it means and what is wrong with it")
X("explain", weir_cli_explain, "[CALL_ID]", "tell the story of a call that a running weir has served, and why")
X("top", weir_cli_top, "", "watch a running weir: groups, deployments, cooldowns, failovers")
X("version", weir_cli_version, "", "print the version, the build and the libraries")
