// Lets tests use the names of all layers without their namespaces.
#pragma once

namespace tinyot {

namespace checks {}
namespace circuit {}
namespace crypto {}
namespace engine {}
namespace net {}
namespace offline {}
namespace online {}
namespace service {}
namespace storage {}
namespace tools {}

using namespace checks;
using namespace circuit;
using namespace crypto;
using namespace engine;
using namespace net;
using namespace offline;
using namespace online;
using namespace service;
using namespace storage;
using namespace tools;

}  // namespace tinyot
