"""Search engines with one contract, looked up by name."""

from batchsolve.engines.contract import (
    UNLIMITED as UNLIMITED,
    Capabilities as Capabilities,
    Engine as Engine,
    Outcome as Outcome,
    Sharing as Sharing,
    Task as Task,
    check_support as check_support,
    engine_names as engine_names,
    get_engine as get_engine,
    registered as registered,
)
