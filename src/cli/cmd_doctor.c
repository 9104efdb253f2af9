/* ptxbench doctor: what this machine can do, and how to get what is missing. */
#include <argp.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/doctor.h"

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print the report as JSON (schema ptxbench.doctor.v1)", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    bool *json = state->input;

    switch (key) {
    case 'j':
        *json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", value);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .doc = "Says what this machine can do and how to get what is missing.\v"
           "Exit status: 0 when kernels can be compiled at least, 2 when something for that is missing, 64 usage.",
};

static const char *color_of(enum doctor_status status, enum doctor_need need)
{
    if (status == DOCTOR_OK)
        return "\033[32m";
    return need == DOCTOR_FOR_EXTRA ? "\033[33m" : "\033[31m";
}

static void print_check(const struct doctor_check *check, bool color)
{
    (void)printf("  %s%-8s%s %-18s %s\n", color ? color_of(check->status, check->need) : "",
                 doctor_status_text(check->status), color ? "\033[0m" : "", check->name, check->detail);
    if (check->status == DOCTOR_OK)
        return;
    (void)printf("  %-8s %-18s needed to: %s\n", "", "", check->purpose);
    (void)printf("  %-8s %-18s remedy: %s\n", "", "", check->remedy);
}

static void print_report(const struct doctor_report *report)
{
    bool color = cli_use_color(stdout);
    const char *group = "";

    for (size_t i = 0; i < report->check_count; i++) {
        const struct doctor_check *check = &report->checks[i];
        if (strcmp(group, check->group) != 0)
            (void)printf("%s%s\n", *group ? "\n" : "", check->group);
        group = check->group;
        print_check(check, color);
    }
    (void)printf("\ncompile and screen kernels: %s\njudge kernels on the emulator: %s\nrun, judge and time kernels on "
                 "a GPU: %s\n",
                 doctor_is_able(report, DOCTOR_FOR_COMPILE) ? "yes" : "no, see above",
                 doctor_is_able(report, DOCTOR_FOR_EMULATION) ? "yes" : "no, see above",
                 doctor_is_able(report, DOCTOR_FOR_EVAL) ? "yes" : "no, see above");
}

static int print_json(const struct doctor_report *report)
{
    AUTO_JSON_OBJECT *root = doctor_report_to_json(report);
    AUTO_FREE char *text = NULL;
    struct error error;

    if (!json_to_text(root, true, &text, &error))
        return cli_fail(&error);
    (void)puts(text);
    return CLI_PASSED;
}

int cmd_doctor(int argc, char **argv)
{
    AUTO_ARENA *arena = arena_new();
    struct doctor_report report;
    bool json = false;

    error_t wrong = argp_parse(&parser, argc, argv, 0, NULL, &json);
    if (wrong)
        return CLI_USAGE;
    doctor_examine(arena, &report);
    if (json && print_json(&report) != CLI_PASSED)
        return CLI_TROUBLE;
    if (!json)
        print_report(&report);
    return doctor_is_able(&report, DOCTOR_FOR_COMPILE) ? CLI_PASSED : CLI_TROUBLE;
}
