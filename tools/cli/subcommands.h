// The subcommands of `tinyot`: their names, what they do, and the function that runs each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tinyot::tools {

using Arguments = std::vector<std::string>;

// Runs the subcommand that the arguments name, or prints help. Returns the exit status. Fails:
// UsageError if there is no such subcommand; as the subcommand.
int run_subcommand(const Arguments& arguments);

// Whether there is a subcommand of this full name, such as "run" or "store info".
bool is_subcommand(std::string_view name);

// Each takes the arguments after its name, and returns the exit status.
int keygen_command(const Arguments& arguments);
int preprocess_command(const Arguments& arguments);
int run_command(const Arguments& arguments);
int serve_command(const Arguments& arguments);
int client_run(const Arguments& arguments);
int client_submit(const Arguments& arguments);
int client_status(const Arguments& arguments);
int client_result(const Arguments& arguments);
int client_cancel(const Arguments& arguments);
int client_stock(const Arguments& arguments);
int client_peers(const Arguments& arguments);
int client_retire(const Arguments& arguments);
int client_resume(const Arguments& arguments);
int key_create(const Arguments& arguments);
int key_import(const Arguments& arguments);
int key_derive(const Arguments& arguments);
int key_list(const Arguments& arguments);
int key_show(const Arguments& arguments);
int key_rotate(const Arguments& arguments);
int key_refresh(const Arguments& arguments);
int key_suspend(const Arguments& arguments);
int key_resume(const Arguments& arguments);
int key_deactivate(const Arguments& arguments);
int key_destroy(const Arguments& arguments);
int key_approvals(const Arguments& arguments);
int key_approve(const Arguments& arguments);
int key_deny(const Arguments& arguments);
int key_encrypt(const Arguments& arguments);
int key_decrypt(const Arguments& arguments);
int key_sign(const Arguments& arguments);
int key_verify(const Arguments& arguments);
int key_certificate(const Arguments& arguments);
int key_verify_certificate(const Arguments& arguments);
int key_rebind(const Arguments& arguments);
int key_backups(const Arguments& arguments);
int key_restore(const Arguments& arguments);
int key_backup_key(const Arguments& arguments);
int key_audit_verify(const Arguments& arguments);
int local_preprocess(const Arguments& arguments);
int local_run(const Arguments& arguments);
int params_command(const Arguments& arguments);
int store_info(const Arguments& arguments);
int store_verify(const Arguments& arguments);
int store_retire(const Arguments& arguments);
int store_merge(const Arguments& arguments);
int store_adopt(const Arguments& arguments);
int circuit_list(const Arguments& arguments);
int circuit_info(const Arguments& arguments);
int circuit_eval(const Arguments& arguments);
int circuit_convert(const Arguments& arguments);
int circuit_import(const Arguments& arguments);
// In tools/bench and tools/selftest.
int demo_command(const Arguments& arguments);
int bench_offline(const Arguments& arguments);
int bench_online(const Arguments& arguments);
int bench_ot(const Arguments& arguments);
int bench_fig17(const Arguments& arguments);
int bench_party(const Arguments& arguments);
int report_command(const Arguments& arguments);
int selftest_command(const Arguments& arguments);

}  // namespace tinyot::tools
