// Two-party computation on Boolean circuits, secure against an active adversary: everything that
// the library offers. The library prints nothing, handles no signals and never ends the process.
#pragma once

#include "tinyot/circuit.h"
#include "tinyot/circuit/fingerprint.h"
#include "tinyot/endpoint.h"
#include "tinyot/error.h"
#include "tinyot/estimate.h"
#include "tinyot/evaluate.h"
#include "tinyot/material.h"
#include "tinyot/observer.h"
#include "tinyot/ot.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"
#include "tinyot/preprocess.h"
#include "tinyot/run.h"
#include "tinyot/store.h"
#include "tinyot/values.h"
#include "tinyot/version.h"
