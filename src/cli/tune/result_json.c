/* result_json.c: the result of tune as JSON. covtune report reads it from tune.json. */
#include "cli/common/findings.h"
#include "cli/tune/tune.h"

#include <math.h>
#include <stdlib.h>

static json_t *parameter_json(const tune_job *job, int32_t i)
{
    const ct_tune_parameter *p = &job->problem->parameter[i];
    const ct_tune_result *r = &job->result;
    json_t *o = cli_object();
    cli_put(o, "name", cli_text(p->name));
    cli_put(o, "is", cli_text(ct_quantity_name(p->quantity)));
    cli_put(o, "scale", cli_text(p->log ? "log" : "linear"));
    cli_put(o, "start", cli_number(p->start));
    cli_put(o, "value", cli_number(r->value[i]));
    cli_put(o, "standard_error", cli_number(r->standard_error ? r->standard_error[i] : NAN)); /* null: none */
    cli_put(o, "undetermined", cli_check_alloc(json_boolean(r->standard_error && isinf(r->standard_error[i]))));
    cli_put(o, "at_bound",
            r->at_bound && r->at_bound[i] ? cli_text(r->at_bound[i] < 0 ? "lower" : "upper") : json_null());
    cli_put(o, "lower", cli_number(p->lower));
    cli_put(o, "upper", cli_number(p->upper));
    cli_put(o, "best", cli_number(r->best ? r->best[i] : NAN));
    if (p->tie >= 0) {
        cli_put(o, "same_as", cli_text(job->problem->parameter[p->tie].name));
        cli_put(o, "times", cli_number(p->factor));
    }
    return o;
}

static json_t *figures_json(const ct_tune_figures *f)
{
    json_t *o = cli_object();
    cli_put(o, "end", cli_text(ct_tune_end_name(f->end)));
    cli_put(o, "loss", cli_number(f->loss));
    cli_put(o, "translation", cli_number(f->translation));
    cli_put(o, "rotation", cli_number(f->rotation));
    cli_put(o, "nees", cli_number(f->nees));
    return o;
}

static json_t *log_json(const tune_job *job, int32_t i)
{
    const ct_tune_log *log = &job->problem->log[i];
    const ct_tune_result *r = &job->result;
    json_t *o = cli_object();
    cli_put(o, "name", cli_text(log->name));
    cli_put(o, "recording", cli_text(log->recording));
    cli_put(o, "test", cli_check_alloc(json_boolean(log->test)));
    if (r->before) cli_put(o, "before", figures_json(&r->before[i]));
    if (r->after) cli_put(o, "after", figures_json(&r->after[i]));
    if (!r->sensitivity || r->parts < 1) return o;
    json_t *parts = cli_array();
    for (int32_t k = 0; k < r->parts; k++)
        cli_append(parts, cli_numbers(r->parameters, r->sensitivity + ((int64_t)i * r->parts + k) * r->parameters));
    cli_put(o, "sensitivity", parts);
    return o;
}

static json_t *candidates_json(const ct_tune_result *r)
{
    json_t *list = cli_array();
    for (int k = 0; k < r->candidates; k++) {
        const ct_tune_candidate *c = &r->candidate[k];
        json_t *o = cli_object();
        cli_put(o, "candidate", cli_text(isnan(c->prior) ? "start" : "learned"));
        cli_put(o, "prior", cli_number(c->prior));
        cli_put(o, "heldout", cli_number(c->heldout));
        cli_put(o, "log_ratio", cli_number(c->log_ratio));
        cli_put(o, "log_ratio_error", cli_number(c->log_ratio_error));
        cli_put(o, "translation_ratio", cli_number(c->translation_ratio));
        cli_put(o, "rotation_ratio", cli_number(c->rotation_ratio));
        cli_put(o, "failed", cli_integer(c->failed));
        cli_put(o, "chosen", cli_check_alloc(json_boolean(c->chosen)));
        cli_put(o, "verdict", cli_text(ct_choice_name(c->verdict)));
        cli_append(list, o);
    }
    return list;
}

static json_t *runs_json(const ct_tune_result *r)
{
    json_t *o = cli_object(), *failed = cli_object();
    for (int k = 0; k < CT_TUNE_END_COUNT; k++)
        if (k != CT_TUNE_DONE) cli_put(failed, ct_tune_end_name((ct_tune_end)k), cli_integer(r->failed[k]));
    cli_put(o, "points", cli_integer(r->points));
    cli_put(o, "runs", cli_integer(r->runs));
    cli_put(o, "cached", cli_integer(r->cached));
    cli_put(o, "failed", failed);
    cli_put(o, "seconds", cli_number(r->seconds));
    cli_put(o, "run_seconds", cli_number(r->run_seconds));
    return o;
}

static json_t *failures_json(const tune_job *job)
{
    json_t *list = cli_array();
    for (int k = 0; k < CT_TUNE_END_COUNT; k++) {
        const tune_failure *f = &job->failure[k];
        if (!f->value) continue;
        json_t *o = cli_object();
        cli_put(o, "end", cli_text(ct_tune_end_name((ct_tune_end)k)));
        cli_put(o, "count", cli_integer(job->result.failed[k]));
        cli_put(o, "log", cli_text(job->problem->log[f->log].name));
        cli_put(o, "code", cli_integer(f->code));
        cli_put(o, "values", cli_numbers(job->problem->parameters, f->value));
        cli_put(o, "message", cli_text(f->message));
        cli_append(list, o);
    }
    return list;
}

json_t *tune_json(const tune_request *request, const tune_job *job)
{
    const ct_tune_result *r = &job->result;
    json_t *o = cli_object(), *parameters = cli_array(), *logs = cli_array(), *loss = cli_object();
    for (int32_t i = 0; i < job->problem->parameters; i++) cli_append(parameters, parameter_json(job, i));
    for (int32_t i = 0; i < job->problem->logs; i++) cli_append(logs, log_json(job, i));
    cli_put(loss, "start", cli_number(r->loss_start));
    cli_put(loss, "learned", cli_number(r->loss));
    cli_put(o, "covtune", cli_text(ct_version()));
    cli_put(o, "file", cli_text(request->path));
    cli_put(o, "method", cli_text(ct_tune_method_name(r->method)));
    cli_put(o, "stop", cli_text(ct_tune_stop_name(r->stop)));
    cli_put(o, "finished", cli_check_alloc(json_boolean(r->stop != CT_TUNE_STOP_CANCELLED)));
    cli_put(o, "parameters", parameters);
    cli_put(o, "loss", loss);
    cli_put(o, "noise", cli_number(r->noise));
    cli_put(o, "recordings", cli_integer(r->recordings));
    cli_put(o, "candidates", candidates_json(r));
    cli_put(o, "logs", logs);
    cli_put(o, "runs", runs_json(r));
    cli_put(o, "failures", failures_json(job));
    cli_put(o, "findings", cli_findings_json(&r->findings));
    return o;
}
