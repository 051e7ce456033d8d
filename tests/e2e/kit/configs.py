"""Configurations in short: groups of deployments that all stand for paths of one upstream."""


def deployment(group, name, upstream, params=None, info=None):
    """One entry of model_list. `info` goes to model_info, `at` in params names another path of the upstream."""
    params = dict(params or {})
    info = {"id": name, **(info or {}), **params.pop("info", {})}
    params.setdefault("api_base", upstream.url(params.pop("at", name)) if upstream else "http://127.0.0.1:9")
    params.setdefault("api_key", f"key-of-{name}")
    return {"model_name": group, "litellm_params": {"model": params.pop("model", f"openai/model-{name}"), **params}, "model_info": info}


def config(upstream, groups, router=None, litellm=None, general=None, weir=None, **more):
    """`groups`: {group: {deployment: litellm_params or None}}, or {group: [deployments]}."""
    entries = []
    for group, members in groups.items():
        members = members if isinstance(members, dict) else dict.fromkeys(members)
        entries += [deployment(group, name, upstream, params) for name, params in members.items()]
    made = {"model_list": entries, "router_settings": {"num_retries": 0, **(router or {})}, "weir_settings": {"drain_timeout": 3, **(weir or {})}}
    if litellm:
        made["litellm_settings"] = litellm
    if general:
        made["general_settings"] = general
    return {**made, **more}
