"""Each sentence in which the documents promise something has tests that show it; what no test shows is not promised."""

from __future__ import annotations

import re
from collections import Counter

from cli.documented import section
from workspace import ROOT

SECTIONS = [
    ("docs/reliability.md", "What is promised"),
    ("docs/SECURITY.md", "Secrets"),
    ("docs/settings.md", "Credentials"),
    ("docs/settings.md", "Proxies and certificates"),
]
FAULTS = "test_a_fault_loses_nothing_and_the_next_run_converges"
CRASHES = "test_after_a_crash_the_next_run_converges"
TWO_STACKS = "test_two_stacks_keep_what_is_theirs_whatever_happens"
NOT_TAKEN = "test_what_another_stack_has_is_never_taken_over_or_deleted"
NAMESAKES = [
    "test_another_template_of_the_same_name_is_neither_read_nor_deleted",
    "test_labels_of_a_namesake_stay_as_they_are",
    "test_an_update_leaves_another_disk_under_our_device_name_alone",
    "test_a_configuration_with_our_number_and_another_content_is_left_alone",
]
ADOPTED = [
    "test_an_interrupted_creation_under_a_generated_name_is_adopted",
    "test_an_interrupted_creation_is_adopted_although_google_does_not_recognize_its_request_id",
]
PROMISES = {
    "Nothing is lost": [FAULTS, CRASHES, TWO_STACKS],
    "What Google has or may have created": [
        FAULTS,
        CRASHES,
        "test_after_a_change_of_the_program_the_lost_resource_is_named",
    ],
    "Nothing is created twice": [FAULTS, CRASHES, TWO_STACKS],
    "Only what belongs to the stack": [TWO_STACKS, NOT_TAKEN],
    "gcpx deletes, detaches and changes only": [TWO_STACKS, NOT_TAKEN],
    "The work is finished": [FAULTS, CRASHES, TWO_STACKS],
    "When the faults have stopped": [FAULTS, CRASHES, TWO_STACKS],
    "If you have to decide first": [
        "test_after_a_change_of_the_program_a_written_name_is_a_conflict_with_an_import_command",
        NOT_TAKEN,
    ],
    "Three facts decide": [*NAMESAKES, *ADOPTED, NOT_TAKEN],
    "A name or a label never": [*NAMESAKES, "test_two_fleets_that_match_each_other_each_destroy_their_own"],
    "A number does": [
        *NAMESAKES,
        "test_an_entry_of_a_state_without_marks_does_not_delete_what_the_new_one_has",
        "test_our_disk_under_another_device_name_is_not_ours",
    ],
    "nothing nothing nobody's": [
        "test_an_edit_takes_its_step_and_then_there_is_nothing_to_do",
        "test_what_is_deleted_is_gone",
    ],
    "nothing what an own request created": [*ADOPTED],
    "nothing anything else": [NOT_TAKEN],
    "its number the same number": [
        "test_an_edit_takes_its_step_and_then_there_is_nothing_to_do",
        "test_what_is_deleted_is_gone",
    ],
    "its number nothing": [
        "test_what_is_removed_at_google_is_gone_and_can_be_deleted",
        "test_an_update_of_what_is_gone_fails_and_a_refresh_creates_it_again",
    ],
    "its number another number": [*NAMESAKES],
    "it as unfinished nothing": ["test_a_creation_that_came_to_nothing_is_repeated_or_forgotten"],
    "it as unfinished what a request": [
        "test_a_refresh_keeps_what_an_operation_of_the_stack_created",
        "test_a_destroy_deletes_what_an_operation_of_the_stack_created",
        "test_the_state_tells_our_requests_whatever_became_of_the_name",
    ],
    "it as unfinished anything else": [
        "test_an_outage_of_everything_does_not_make_what_another_stack_has_ours",
        "test_a_fleet_that_another_stack_creates_during_an_outage_does_not_become_ours",
        "test_a_namesake_of_what_an_operation_of_the_stack_created_is_left",
    ],
    "the number in another resource": [
        "test_what_another_resource_of_the_state_has_is_neither_adopted_nor_named",
        "test_a_conflict_with_another_resource_of_the_stack_names_it_instead_of_an_import",
        "test_a_refresh_of_both_entries_keeps_the_new_one",
        "test_what_another_resource_of_the_program_has_is_not_deleted_under_its_former_name",
    ],
    "any of these": [
        "test_a_failed_read_does_not_mean_deleted",
        "test_a_wrong_value_is_an_error_or_harmless",
        "test_a_deletion_deletes_nothing_and_fails_while_a_zone_was_not_reached",
        "test_a_creation_creates_nothing_while_a_zone_was_not_reached",
    ],
    "If gcpx takes something over": ["test_under_a_generated_name_it_is_told_at_once"],
    "Under a given name": ["test_under_a_given_name_it_is_told_after_a_minute"],
    "Google does not show which request": [
        "test_a_configuration_that_no_resource_has_is_imported_and_not_doubled",
        "test_an_existing_key_is_not_taken_over_because_it_may_be_another_stacks",
    ],
    "So gcpx takes one over": [
        "test_a_key_that_somebody_adds_after_the_look_is_not_taken_over",
        "test_a_lost_response_leads_to_one_key_and_a_message",
        "test_a_lost_response_leads_to_one_configuration",
    ],
    "A key must also expire": ["test_a_key_that_expires_otherwise_than_the_lost_request_said_is_somebody_elses"],
    "If somebody adds the same key again": ["test_the_same_key_that_somebody_adds_again_counts_as_ours"],
    "Each member of a fleet": [
        "test_what_a_killed_run_created_stays_in_the_fleet_beside_a_stranger",
        "test_a_stranger_is_not_changed_in_place",
    ],
    "A warning lists": [
        "test_a_refresh_does_not_take_a_stranger_in_and_names_it",
        "test_a_destroy_leaves_a_stranger_and_names_it",
    ],
    "Only an import adds everything": [
        "test_an_import_takes_everything_in_that_matches",
        "test_an_imported_fleet_keeps_its_members_beside_a_newcomer_that_matches_its_id",
        "test_the_id_of_an_imported_fleet_is_refused_for_a_new_one_with_what_to_write",
    ],
    "gcpx recognizes the requests of an unfinished": ["test_the_state_tells_our_requests_whatever_became_of_the_name"],
    "If the old and the new resource cannot": [
        "test_a_change_in_place_that_the_program_makes_a_replacement_succeeds",
        "test_what_the_program_replaces_is_really_replaced",
    ],
    "`replacementTrigger`": ["test_what_cannot_exist_twice_is_refused_until_the_option_is_set_that_the_error_names"],
    "What `retainOnDelete` keeps": ["test_what_the_program_retains_is_never_deleted"],
    "After a lost response": [FAULTS, CRASHES],
    "An import can be run again": [FAULTS, CRASHES],
    "gcpx repeats a request": [
        "test_every_retry_is_reported_until_patience_is_over",
        "test_a_request_that_is_not_idempotent_is_sent_again_only_after_a_rate_limit",
    ],
    "It repeats the creation of a fleet": [
        "test_a_fleets_creation_is_not_sent_again_before_a_look_up_by_its_label",
        "test_a_fleets_creation_is_not_sent_again_if_nothing_shows_what_became_of_it",
    ],
    "Once the request for a creation has been sent": [
        "test_a_creation_whose_response_is_lost_for_good_is_kept_in_the_state",
        "test_what_an_answer_hides_is_kept_and_finished_by_the_next_run",
        "test_what_nobody_expected_after_an_answer_is_no_reason_to_forget",
    ],
    "There is one exception": ["test_what_google_refuses_is_in_no_state"],
    "If Google does not show": [
        "test_what_becomes_visible_after_a_while_is_created_once",
        "test_what_does_not_become_visible_stays_in_the_state_and_is_found_by_the_next_run",
    ],
    "It is created again only if": [
        "test_what_was_deleted_is_created_again_within_the_hour",
        "test_what_was_deleted_is_created_again_by_a_later_run_if_operations_may_not_be_listed",
    ],
    "If somebody else detaches a disk within 20 seconds": [
        "test_a_disk_that_others_detached_is_attached_again_as_soon_as_reads_no_longer_lag",
        "test_an_attachment_is_looked_for_although_another_disk_is_detached_meanwhile",
    ],
    "A notification whose ID could not": [
        "test_a_provisional_number_names_what_existed_before",
        "test_if_the_bucket_cannot_be_listed_after_a_lost_response_the_next_run_finds_the_configuration",
    ],
    "A response that is incomplete": [
        "test_what_is_not_http_is_told",
        "test_the_response_for_another_request_does_not_mean_that_a_resource_is_gone",
        "test_a_wrong_value_is_an_error_or_harmless",
    ],
    "It never means that something is gone": [
        "test_a_page_of_a_proxy_does_not_mean_that_a_resource_is_gone",
        "test_only_googles_form_of_not_found_means_that_a_resource_is_gone",
    ],
    "A list in which Google did not reach": [
        "test_a_refresh_keeps_a_fleet_whose_zone_was_not_reached",
        "test_a_list_of_notifications_fails_while_a_bucket_was_not_reached",
    ],
    "A fleet needs only the zones": ["test_an_outage_elsewhere_does_not_stop_a_fleet"],
    "A response may have at most": [
        "test_a_body_is_read_up_to_a_limit_only",
        "test_deep_json_is_refused",
        "test_a_response_that_drips_ends_at_the_request_timeout",
    ],
    "A refresh or an import of more than three": [
        "test_ten_reads_side_by_side_need_one_request_and_one_list",
        "test_a_couple_of_reads_beside_another_one_are_requests_of_their_own",
    ],
    "Only a request for the resource itself": [
        "test_what_is_gone_is_shown_as_gone_by_its_own_read_only",
        "test_drift_is_shown",
    ],
    "If a list does not show a resource": [
        "test_what_a_list_does_not_show_is_read_alone_and_stays",
        "test_what_a_list_shows_otherwise_than_the_state_is_read_alone",
        "test_a_namesake_is_not_ours_also_in_a_list",
    ],
    "What a list has shown": ["test_an_answer_of_a_list_is_given_for_ten_seconds"],
    "It is never older than the last change": [
        "test_a_change_by_this_process_ends_what_is_kept",
        "test_a_list_that_was_asked_for_before_a_change_ended_answers_nothing",
        "test_a_list_that_was_asked_for_during_a_change_answers_nothing_after_its_end",
        "test_a_list_that_was_asked_for_during_an_operation_answers_nothing_after_its_end",
    ],
    "If the account may not list": [
        "test_a_caller_who_may_not_list_reads_each_resource_and_is_not_refused_again",
        "test_an_error_of_the_list_is_no_error_of_the_reads",
    ],
    "A plugin whose CLI was killed": ["test_the_process_ends_when_its_engine_was_killed"],
    "What the killed run was creating": [CRASHES],
    "something with a given name": [
        *ADOPTED,
        "test_after_a_change_of_the_program_a_written_name_is_a_conflict_with_an_import_command",
        "test_an_attachment_of_a_crashed_run_is_taken_over_although_another_disk_was_detached_since",
    ],
    "anything else with a generated name": [*ADOPTED, "test_after_a_change_of_the_program_the_lost_resource_is_named"],
    "a notification or a key": [
        "test_a_configuration_that_no_resource_has_is_imported_and_not_doubled",
        "test_the_command_in_the_error_about_a_lost_creation_can_be_copied",
    ],
    "It also takes over": ["test_a_creation_that_is_still_running_is_adopted"],
    "It finishes": [FAULTS, CRASHES],
    "^C does not wait": [
        "test_a_stopped_call_does_not_wait_for_the_server",
        "test_a_cancellation_is_heard_although_no_creation_can_end",
        "test_an_interrupted_up_does_not_wait_for_the_server",
    ],
    "A request that only reads": ["test_a_cancellation_does_not_wait_for_the_response"],
    "A request that changes something": [
        "test_a_cancellation_does_not_wait_for_the_response",
        "test_a_stopped_call_does_not_wait_for_the_server",
    ],
    "After that, gcpx sends nothing": ["test_nothing_is_sent_after_a_cancellation"],
    "The next refresh or destroy waits": [
        "test_a_refresh_keeps_what_is_still_being_created",
        "test_a_destroy_deletes_what_is_still_being_created",
    ],
    "Without permission to list operations": [
        "test_without_the_permission_to_list_operations_a_warning_says_what_is_unknown"
    ],
    "The destroy of a fleet": ["test_a_destroy_deletes_what_a_growth_that_was_killed_is_still_creating"],
    "After a second ^C": ["test_a_second_interrupt_leaves_a_state_that_the_next_up_goes_on_from"],
    "`customTimeouts` limits": [
        "test_the_limit_is_shared_by_all_requests_of_a_call",
        "test_a_wait_for_the_rate_that_would_take_longer_than_the_limit_is_not_begun",
    ],
    "After the limit": ["test_a_call_ends_a_second_after_its_timeout_and_changes_nothing_after_it"],
    "It may read": ["test_what_was_created_just_before_the_limit_is_still_read"],
    "gcpx learns from the responses": [
        "test_a_stack_finishes_in_the_time_that_the_quota_requires",
        "test_the_quota_of_one_api_does_not_slow_down_another",
    ],
    "Programs that share a quota": ["test_two_stacks_share_a_quota"],
    "gcpx waits as long as": ["test_the_pause_that_google_asks_for_is_kept_up_to_30_seconds"],
    "Three kinds of values are secret": [
        "test_values_that_are_secret_by_declaration_or_content_are_not_printed",
        "test_a_life_shows_no_secret_input",
        "test_no_call_shows_a_secret_that_google_quotes",
    ],
    "They never appear in clear": [
        "test_a_life_shows_no_secret_input",
        "test_no_call_shows_a_secret_that_google_quotes",
        "test_what_goes_wrong_is_reported_without_values",
        "test_no_command_shows_a_secret",
    ],
    "They are masked even if": [
        "test_a_secret_in_an_error_is_masked_in_every_encoding",
        "test_each_long_line_of_a_secret_is_masked",
        "test_the_beginning_of_a_secret_that_google_cut_is_masked",
    ],
    "Credentials and tokens are sent only": [
        "test_an_emulator_gets_no_credentials",
        "test_every_url_is_built_from_one_base",
    ],
    "They are sent over https": ["test_credentials_never_go_over_plain_http_to_another_host"],
    "Plain http is allowed": [
        "test_an_access_token_goes_to_a_loopback_endpoint_that_the_user_set",
        "test_the_token_comes_from_the_metadata_server_without_a_proxy",
    ],
    "The same holds for the ID tokens": [
        "test_tokens_and_certificates_never_go_over_plain_http_to_another_host",
        "test_certificates_are_never_fetched_over_plain_http_from_another_host",
    ],
    "An emulator on another host": ["test_an_emulator_on_another_host_gets_what_needs_no_token"],
    "Others on the network": ["test_an_emulator_on_another_host_gets_what_needs_no_token"],
    "Redirects are not followed": ["test_a_redirect_is_not_followed_and_names_where_it_leads"],
    "Tokens are renewed": [
        "test_a_token_is_renewed_before_it_expires_and_not_earlier",
        "test_a_refused_token_is_renewed_once_and_then_told",
    ],
    "A fixed `accessToken`": ["test_a_given_access_token_that_is_refused_is_not_sent_again"],
    "gcpx requests a token for each API": [
        "test_each_api_gets_a_token_of_its_own_scope",
        "test_a_scope_is_the_narrowest_that_all_calls_accept",
        "test_configured_scopes_are_requested",
    ],
    "An error about a missing permission": [
        "test_the_permission_of_each_call_is_known",
        "test_an_unknown_account_comes_with_how_to_find_it",
    ],
    "An error about an API": [
        "test_an_api_that_is_not_enabled_comes_with_the_command_that_enables_it",
        "test_a_token_with_too_narrow_scopes_comes_with_the_scope_and_how_to_get_it",
    ],
    "If Cloud Storage may not publish": [
        "test_a_missing_permission_to_publish_comes_with_the_grant_to_the_agent_of_the_buckets_project",
        "test_the_account_that_google_names_is_the_one_to_grant",
    ],
    "The environment variables `HTTPS_PROXY`": [
        "test_calls_go_through_the_proxy_and_trust_the_certificates_of_the_environment",
        "test_a_host_that_no_proxy_names_is_called_directly",
    ],
    "Calls to this machine": [
        "test_a_loopback_endpoint_is_never_called_through_a_proxy",
        "test_the_token_comes_from_the_metadata_server_without_a_proxy",
        "test_no_proxy_lies_between_the_plugin_and_the_engine",
    ],
    "The metadata server is": [
        "test_the_token_comes_from_the_metadata_server_without_a_proxy",
        "test_a_metadata_server_that_the_environment_names_gets_its_requests_over_plain_http",
    ],
    "`SSL_CERT_FILE`": [
        "test_calls_go_through_the_proxy_and_trust_the_certificates_of_the_environment",
        "test_certificates_that_nobody_trusts_are_told_at_once",
    ],
}
"""How each promise begins, in the order of the documents, and the names of its tests."""


def _promises(document: str, heading: str) -> list[str]:
    """Return the promises below a heading: each sentence, and each row of a table as its words."""
    found = []
    for part in re.split(r"\n\n|\n(?=[-|])", re.sub(r"^#+ .*$", "", section(document, heading), flags=re.MULTILINE)):
        if part.startswith("|"):
            found.append(" ".join(re.split(r"[\s|]+", part)).strip())
        else:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(part.split()).removeprefix("- ").replace("**", ""))
            found += re.split(r"(?<=\.) (?=[A-Z`^]|gcpx )", text)
    tables = [number for number, text in enumerate(found) if text.startswith("---")]
    headers = {number - 1 for number in tables} | set(tables)
    return [text for number, text in enumerate(found) if text and not text.endswith(":") and number not in headers]


def test_every_promise_has_a_test():
    promises = [text for place in SECTIONS for text in _promises(*place)]

    assert [text for text in promises if not text.startswith(tuple(PROMISES))] == []
    assert [text for text, begin in zip(promises, PROMISES, strict=True) if not text.startswith(begin)] == []


def test_every_test_of_a_promise_exists():
    texts = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    tests = Counter(name for text in texts for name in re.findall(r"^def (test_\w+)\(", text, re.MULTILINE))

    assert {
        begin: found for begin, found in PROMISES.items() if not found or {tests[name] for name in found} != {1}
    } == {}
