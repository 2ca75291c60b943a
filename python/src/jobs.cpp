#include "python/src/jobs.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "python/src/bits.h"
#include "python/src/pairs.h"
#include "python/src/values.h"

namespace tinyot::python {
namespace {

namespace py = pybind11;
using std::filesystem::path;

Timeouts timeouts_of(double connect_s, double idle_s) {
  const auto of = [](double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
  };
  return {.connect = of(connect_s), .idle = of(idle_s)};
}

// Calls a Python function with the progress of a job. An exception of the function stops the job.
class Progress final : public Observer {
 public:
  Progress(py::handle function, std::stop_source stop)
      : function_(function), stop_(std::move(stop)) {}
  void began(std::uint64_t ands, std::uint64_t ands_before) override {
    const std::lock_guard lock(mutex_);
    job_ands_ = ands;
    ands_before_ = ands_before;
  }
  void advanced(std::uint64_t unit, std::uint64_t ands, std::string_view phase, std::uint64_t done,
                std::uint64_t total) override {
    const py::gil_scoped_acquire gil;
    if (function_.is_none() || failure_) return;
    try {
      const auto [job_ands, ands_before] = job();
      function_(unit, ands, phase, done, total, job_ands, ands_before);
    } catch (const py::error_already_set&) {
      failure_ = std::current_exception();
      stop_.request_stop();
    }
  }
  // With the GIL held.
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::pair<std::uint64_t, std::uint64_t> job() {
    const std::lock_guard lock(mutex_);
    return {job_ands_, ands_before_};
  }
  const py::handle function_;
  std::stop_source stop_;
  std::exception_ptr failure_;  // guarded by the GIL
  std::mutex mutex_;
  std::uint64_t job_ands_ = 0, ands_before_ = 0;
};

py::list phases_of(const std::vector<PhaseCost>& phases) {
  py::list list;
  for (const PhaseCost& phase : phases)
    list.append(py::dict(py::arg("name") = phase.name, py::arg("wall_s") = phase.wall_s,
                         py::arg("cpu_s") = phase.cpu_s, py::arg("bytes_sent") = phase.bytes_sent,
                         py::arg("bytes_received") = phase.bytes_received,
                         py::arg("rounds") = phase.rounds, py::arg("items") = phase.items));
  return list;
}

py::dict counts_of(const MaterialCounts& counts) {
  py::dict dict;
  for (const MaterialKind kind : kAllMaterialKinds)
    if (counts[kind] > 0) dict[py::str(std::string(name_of(kind)))] = counts[kind];
  return dict;
}

std::optional<StoreKey> read_key(const std::optional<path>& file) {
  if (!file) return std::nullopt;
  return StoreKey::read(*file);
}

// A number, or a tuple for a profile with more than one.
py::object object_of(const BucketSizes& bucket) {
  if (bucket.levels() == 1) return py::int_(bucket.only());
  py::list sizes;
  for (const std::uint32_t size : bucket.sizes()) sizes.append(size);
  return py::tuple(sizes);
}

py::dict dict_of(const StoreInfo& info) {
  MaterialCounts made, left;
  for (const MaterialKind kind : kAllMaterialKinds) {
    made[kind] = info.of(kind).made;
    left[kind] = info.of(kind).left;
  }
  const Security& security = info.security;
  return py::dict(
      py::arg("session") = info.session, py::arg("party") = std::string(1, letter(info.party)),
      py::arg("peer") = info.peer, py::arg("state") = std::string(name_of(info.state)),
      py::arg("revocation_reason") = info.revocation_reason,
      py::arg("profile") = std::string(name_of(security.profile)),
      py::arg("material") = std::string(name_of(security.material)),
      py::arg("sigma") = security.sigma, py::arg("sigma_exact") = security.sigma_exact,
      py::arg("bucket") = object_of(security.bucket), py::arg("unit") = security.unit,
      py::arg("shard") = info.shard, py::arg("shards") = info.shards,
      py::arg("units_made") = info.units_made, py::arg("units_outstanding") = security.outstanding,
      py::arg("made") = counts_of(made), py::arg("left") = counts_of(left),
      py::arg("ands_left") = info.ands_left, py::arg("bytes") = info.bytes);
}

py::dict preprocessed(Party party, const Endpoint& endpoint, const path& store,
                      const std::optional<path>& store_key, const ParameterRequest& parameters,
                      Amount amount, std::uint64_t ands, std::uint64_t inputs,
                      std::uint64_t threads, std::uint64_t memory_bytes, bool resume,
                      const py::object& progress, const std::stop_source& stop) {
  const PreprocessRequest request{.party = party,
                                  .endpoint = endpoint,
                                  .store = store,
                                  .store_key = read_key(store_key),
                                  .parameters = parameters,
                                  .amount = amount,
                                  .ands = ands,
                                  .inputs = inputs,
                                  .threads = threads,
                                  .memory_bytes = memory_bytes,
                                  .resume = resume};
  Progress observer(progress, stop);
  PreprocessResult result;
  try {
    const py::gil_scoped_release release;
    result = preprocess(request, &observer, stop.get_token());
  } catch (...) {
    observer.rethrow_failure();
    throw;
  }
  observer.rethrow_failure();
  return py::dict(py::arg("store") = dict_of(result.store), py::arg("ands") = result.ands,
                  py::arg("wall_s") = result.wall_s, py::arg("phases") = phases_of(result.phases));
}

py::dict dict_of(const RunResult& result) {
  return py::dict(py::arg("outputs") = packed(result.outputs), py::arg("shared") = result.shared,
                  py::arg("ands") = result.ands, py::arg("xors") = result.xors,
                  py::arg("and_rounds") = result.and_rounds,
                  py::arg("online") = std::string(name_of(result.phase)),
                  py::arg("online_chosen_by") = std::string(name_of(result.phase_chosen_by)),
                  py::arg("half_round_trips") = result.half_round_trips,
                  py::arg("burnt") = counts_of(result.burnt), py::arg("wall_s") = result.wall_s,
                  py::arg("phases") = phases_of(result.phases));
}

template <class Enum>
Enum named(const char* what, const std::string& name, std::initializer_list<Enum> all) {
  for (const Enum value : all)
    if (name_of(value) == name) return value;
  throw UsageError("there is no " + std::string(what) + " '" + name + "'");
}

RunRequest run_request(Party party, const Endpoint& endpoint, const std::vector<path>& stores,
                       const std::optional<path>& store_key,
                       const std::optional<ParameterRequest>& live, const std::string& online,
                       const std::optional<std::string>& row_check) {
  RunRequest request{.party = party,
                     .endpoint = endpoint,
                     .stores = stores,
                     .store_key = read_key(store_key),
                     .live = live};
  request.phase = requested_phase(online);
  if (row_check)
    request.row_check = named("row check", *row_check, {RowCheck::Early, RowCheck::Batched});
  return request;
}

py::dict ran(const RunRequest& request, const circuit::Circuit& circuit, const Values& inputs,
             std::size_t lanes, const std::stop_source& stop) {
  const CancelScope scope(stop.get_token());
  RunResult result;
  {
    const py::gil_scoped_release release;
    result = run(request, circuit, inputs, lanes, stop.get_token());
  }
  return dict_of(result);
}

// A connection for several runs.
class Connection {
 private:
  // A call that the library's header forbids is a UsageError in Python, as all errors are Errors.
  template <class Call>
  auto call(Call work) {
    if (!evaluator_) throw UsageError("the connection is closed");
    const CancelScope scope(stop_.get_token());
    const py::gil_scoped_release release;
    try {
      return work();
    } catch (const std::invalid_argument& error) {
      throw UsageError(error.what());
    }
  }

 public:
  Connection(const RunRequest& request, std::stop_source stop)
      : stop_(std::move(stop)), evaluator_(std::in_place, request, stop_.get_token()) {}

  py::dict run(const circuit::Circuit& circuit, const Values& inputs, const SharedInputs& shared,
               std::size_t lanes, const std::string& label) {
    return dict_of(call([&] { return evaluator_->run(circuit, inputs, shared, lanes, label); }));
  }
  std::uint64_t prepare(const circuit::Circuit& circuit, const SharedInputs& shared,
                        std::size_t lanes, const std::string& label) {
    return call([&] { return evaluator_->prepare(circuit, shared, lanes, label); });
  }
  py::dict finish(std::uint64_t prepared, const Values& inputs) {
    return dict_of(call([&] { return evaluator_->finish(prepared, inputs); }));
  }
  void close() { evaluator_.reset(); }

 private:
  std::stop_source stop_;
  std::optional<Evaluator> evaluator_;
};

// `own` has those of the profile that were given.
ParameterRequest parameters_of(const std::string& profile, std::uint32_t sigma,
                               std::optional<std::uint64_t> unit,
                               const std::vector<std::uint32_t>& bucket,
                               const std::optional<std::string>& material,
                               const std::vector<std::pair<std::string, std::string>>& own,
                               const std::string& base_ot, bool weak_allowed) {
  ParameterRequest request{.profile = profile_named(profile),
                           .sigma = sigma,
                           .unit = unit,
                           .weak_allowed = weak_allowed};
  std::vector<NamedValue> values;
  values.reserve(own.size());
  for (const auto& [name, value] : own) values.push_back({name, value});
  request.own = own_parameters(request.profile, values);
  request.base_ot = requested_base_ot(base_ot);
  if (bucket.size() == 1) request.bucket = bucket[0];
  if (bucket.size() == 2) request.bucket = {bucket[0], bucket[1]};
  if (bucket.size() > BucketSizes::kLevelsMax) throw UsageError("bucket has too many sizes");
  if (material)
    request.material = named("kind of material", *material,
                             {AndMaterial::AandAot, AndMaterial::Triples, AndMaterial::Garbling});
  return request;
}

py::dict estimated(const ParameterRequest& parameters, std::uint64_t ands, std::uint64_t inputs,
                   std::uint64_t threads, std::uint64_t memory_bytes) {
  const Estimate of = estimate(parameters, ands, inputs, threads, memory_bytes);
  return py::dict(py::arg("ands") = of.ands, py::arg("inputs") = of.inputs,
                  py::arg("unit") = of.unit, py::arg("bucket") = object_of(of.bucket),
                  py::arg("units") = of.units, py::arg("sigma_paper_bound") = of.sigma_paper_bound,
                  py::arg("sigma_exact") = of.sigma_exact, py::arg("base_ots") = of.base_ots,
                  py::arg("bytes_sent") = of.bytes_sent, py::arg("disk_bytes") = of.disk_bytes,
                  py::arg("memory_bytes") = of.memory_bytes);
}

}  // namespace

void register_stores(py::module_& module) {
  module.def("store_info", [](const path& directory, const std::optional<path>& key) {
    StoreInfo info;
    {
      const py::gil_scoped_release release;
      info = store_info(directory, read_key(key));
    }
    return dict_of(info);
  });
  module.def(
      "retire",
      [](const path& directory, const std::optional<path>& key) {
        return retire_store(directory, read_key(key)).not_done;
      },
      py::call_guard<py::gil_scoped_release>());
}

void register_jobs(py::module_& module) {
  py::class_<std::stop_source>(module, "Stop")
      .def(py::init<>())
      .def("request", [](std::stop_source& stop) { stop.request_stop(); });

  py::class_<Endpoint>(module, "Endpoint")
      .def_static("listen",
                  [](const std::string& address, double connect_s, double idle_s) {
                    return Endpoint::listen(address, timeouts_of(connect_s, idle_s));
                  })
      .def_static("connect",
                  [](const std::string& address, double connect_s, double idle_s) {
                    return Endpoint::connect(address, timeouts_of(connect_s, idle_s));
                  })
      .def_static("pair", &connected_endpoints)
      .def("authenticate", [](Endpoint& endpoint, const path& key,
                              const std::string& peer) { endpoint.authenticate(key, peer); })
      .def("allow_plaintext", [](Endpoint& endpoint) { endpoint.allow_plaintext(); });
  module.def("make_key_file", &make_key_file, py::call_guard<py::gil_scoped_release>());
  module.def("version", &version);

  const py::class_<ParameterRequest> parameters(module, "Parameters");
  module.def("parameters", &parameters_of);
  module.def("estimate", &estimated);
  py::enum_<Amount>(module, "Amount")
      .value("total", Amount::Total)
      .value("more", Amount::More)
      .value("left", Amount::Left);
  module.def("preprocess", &preprocessed);

  py::class_<RunRequest>(module, "RunRequest").def(py::init(&run_request));
  py::class_<SharedBits>(module, "SharedBits")
      .def_property_readonly("bits", &SharedBits::bits)
      .def_property_readonly("lanes", &SharedBits::lanes)
      .def("my_share", [](const SharedBits& value) {
        const LaneMatrix share = value.my_share();
        py::list rows;
        for (std::size_t lane = 0; lane < share.lanes(); ++lane) {
          const auto bytes = share[lane].bytes();
          rows.append(py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        }
        return rows;
      });
  module.def("run", &ran);
  py::class_<Connection>(module, "Connection")
      .def(py::init<const RunRequest&, std::stop_source>(),
           py::call_guard<py::gil_scoped_release>())
      .def("run", &Connection::run)
      .def("prepare", &Connection::prepare)
      .def("finish", &Connection::finish)
      .def("close", &Connection::close, py::call_guard<py::gil_scoped_release>());
}

}  // namespace tinyot::python
