"""The quick tier: everything important once, in under a minute on two cores (`make quick`).

Prints what pytest is to run, so that files of other tests are not even read. Whoever adds a tool, a
package or a way in adds a line; `tests/test_quick.py` says so where one is missing.
"""

PARTS: dict[str, str] = {
    # the tools, as a model calls them
    "tool recall": """
        test_tools.py::test_what_was_memorized_is_recalled_with_where_and_when_it_was_learned
        """,
    "tool memorize": """
        test_tools.py::test_a_batch_is_answered_in_order_and_one_bad_item_harms_no_other
        """,
    "tool update_memory": """
        test_tools.py::test_an_update_changes_only_what_is_named_and_null_clears
        """,
    "tool forget": "test_tools.py::test_forgetting_says_until_when_it_can_be_undone",
    "tool list_memories": "test_tools.py::test_a_long_list_is_read_page_by_page",
    "tool review_memories": """
        test_tools.py::test_a_review_names_duplicates_and_tells_how_far_it_is
        """,
    "tool record_turn": """
        test_turn_tools.py::test_record_turn_is_listed_on_request_and_keeps_a_whole_turn
        """,
    "tool observe": "test_turn_tools.py::test_observe_is_in_no_list_but_answers",
    "tool explore": "test_knowledge.py::test_explore_is_a_tool_of_its_set",
    "tool timeline": """
        test_use.py::test_a_timeline_and_a_card_count_as_use
        test_service.py::test_a_day_of_the_timeline_and_a_past_date_may_be_told_in_words
        """,
    "tool sleep": "test_tools.py::test_a_sleep_that_is_soon_done_tells_what_it_did",
    # the ways in
    "door stdio": "test_stdio.py::test_a_client_stores_in_one_process_and_finds_it_in_the_next",
    "door http": """
        test_http.py::test_clients_memorize_and_recall_over_each_transport
        test_http.py::test_our_own_names_are_served
        """,
    "door hook": """
        hooks/test_hook.py::test_notes_of_the_server_reach_the_client
        hooks/test_recordings.py::test_without_a_server_the_hook_opens_the_memory
        """,
    "door command line": "cli/test_asking.py::test_recall_finds_by_meaning",
    # the journeys
    "journey a question": """
        test_journeys.py
        test_service.py::test_a_question_finds_what_shares_no_word_with_it
        test_service.py::test_nothing_is_returned_when_nothing_fits
        """,
    "journey a note": "test_service.py::test_memorize_says_what_became_of_it",
    "journey a turn": """
        test_conversation.py::test_a_turn_teaches_what_will_matter_later
        test_transcript.py::test_what_was_not_learned_is_found_where_it_was_said
        """,
    "journey a night": """
        upkeep/test_sleep.py::test_the_report_tells_what_each_step_did_and_how_long_it_took
        """,
    # what must never break
    "isolation": """
        test_service.py::test_private_memories_stay_with_their_kin
        test_service.py::test_only_the_author_changes_a_shared_memory_and_others_learn_nothing
        test_use.py::test_what_another_holds_back_of_what_he_shared_is_seen_by_nobody_else
        store/test_isolation.py::test_the_file_of_another_kin_is_never_opened
        test_http.py::test_a_token_opens_its_own_kins_memory_and_no_other
        """,
    "erasure": """
        test_service.py::test_erasing_leaves_no_trace_in_any_file
        test_forgetting.py::test_not_a_byte_of_a_name_is_left
        """,
    "undo": """
        test_undo.py::test_an_update_is_undone_and_done_again
        test_undo.py::test_a_merge_is_undone_as_a_whole
        """,
    "kill": "test_quick.py::test_what_was_answered_outlives_a_kill",
    "border": """
        test_service.py::test_keys_are_refused_without_being_repeated
        test_border.py::test_memorize_says_what_kind_of_secret_it_refuses
        """,
    "told stays": """
        learn/test_certainty.py::test_a_rule_is_ended_by_its_author_alone_and_only_in_its_own_words
        """,
    # each package
    "recall": """
        recall/test_neighbours.py recall/test_worth.py recall/test_lines.py recall/test_evidence.py
        recall/test_fuse.py recall/test_weigh.py recall/test_trim.py test_use.py
        """,
    "learn": "learn/test_deeds.py learn/test_reconcile.py",
    "service": "test_service.py::test_what_is_forgotten_can_be_restored_until_it_is_purged",
    "upkeep": """
        upkeep/test_outbox.py upkeep/test_retain.py::test_retention_decides_the_state
        upkeep/test_join.py::test_of_two_wordings_one_stays_and_nothing_is_lost
        """,
    "backup": """
        backup/test_backup.py::test_a_backup_is_one_private_file_that_any_program_can_open
        backup/test_backup.py::test_every_day_has_one_backup_whoever_makes_it
        backup/test_jsonl.py::test_every_kind_of_record_is_stored_and_read_as_it_was
        backup/test_jsonl.py::test_no_field_of_a_memory_is_forgotten
        backup/test_pages.py::test_an_edited_line_is_one_update_by_hand
    """,
    "life": """
        life/test_retention.py life/test_tiers.py
        upkeep/test_tier.py::test_a_life_from_hot_to_the_archive_is_recorded
        """,
    "documents": """
        documents/test_documents.py::test_a_question_finds_the_chunk_and_says_where_it_stands
        documents/test_documents.py::test_a_new_version_takes_the_place_of_the_old_one
        """,
    "conversation": """
        conversation/test_inject.py::test_what_fits_is_told_between_delimiters_as_data
        test_conversation.py::test_a_prompt_is_answered_with_the_memories_that_fit_once_a_session
        test_conversation.py::test_a_long_conversation_is_summarised_and_stays_whole
        """,
    "knowledge": "test_knowledge.py::test_a_card_tells_relations_from_either_end",
    "models": """
        test_links.py::test_a_link_is_read_from_both_ends
        test_places.py::test_recall_prefers_the_project_at_hand_and_says_what_comes_from_elsewhere
        """,
    "language": """
        language/test_secrets.py::test_a_secret_is_taken_out
        language/test_secrets.py::test_what_only_looks_like_one_stays
        language/test_sentences.py
        """,
    "store": """
        store/test_migrations.py::test_an_old_file_is_brought_up_to_date_after_a_backup
        store/test_migrations.py::test_a_failing_migration_changes_nothing
        store/test_sqlite.py::TestSqliteBatches
        """,
    "llm": """
        llm/test_builtin.py::test_an_answer_is_nearer_than_something_else
        llm/test_reply.py test_wiring.py::test_each_use_has_the_model_that_is_set_for_it
        """,
    "settings": "test_settings.py::test_the_nearest_origin_wins_and_is_remembered",
    "mcp": "test_tools.py::test_what_a_model_sees_of_all_tools_stays_under_6000_characters",
    "serve": "test_stdio.py::test_calls_in_hand_are_answered_when_the_input_ends",
    "http": "test_tokens.py::test_a_token_speaks_for_the_kin_it_was_made_for",
    "web": """
        web/test_door.py::test_a_link_opens_one_session_and_only_once
        web/test_door.py::test_the_cookie_opens_pages_and_nothing_else
        web/test_door.py::test_a_form_needs_the_mark_of_its_session
        web/test_words.py
        """,
    "rest": "rest/test_rest.py::test_a_memory_is_stored_found_changed_forgotten_and_restored",
    "hooks": "hooks/test_dialects.py::test_a_recorded_session_is_understood",
    "install": "install/test_install.py::test_removing_gives_back_every_byte",
    "cli": "cli/test_doctor.py::test_a_sound_memory_passes_every_check",
}


def chosen() -> list[str]:
    """Ids as pytest takes them, each once."""
    words = dict.fromkeys(word for part in PARTS.values() for word in part.split())
    return [f"tests/{word}" for word in words]


if __name__ == "__main__":
    print(*chosen(), sep="\n")  # noqa: T201
