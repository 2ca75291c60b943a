// What waits for a worker, so that nobody waits for all of somebody else's: both parties take
// turns, and so do the clients of each; what one client asks for stays in order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <list>
#include <string>
#include <utility>

namespace tinyot::service {

// Whose turn it is. The peer says the names of its clients: they are of use among these alone.
struct Asker {
  bool is_peer = false;
  std::string client;
};

template <class Item>
class Turns {
 public:
  bool empty() const { return waiting_[0].empty() && waiting_[1].empty(); }

  void push(const Asker& asker, Item item) {
    Clients& clients = waiting_[asker.is_peer ? 1 : 0];
    auto at = std::ranges::find(clients, asker.client, &Client::name);
    if (at == clients.end()) at = clients.insert(at, Client{asker.client, {}});
    at->items.push_back(std::move(item));
  }

  // There is one.
  const Item& front() const { return waiting_[party()].front().items.front(); }
  void pop_front() {
    const std::size_t served = party();
    Clients& clients = waiting_[served];
    clients.front().items.pop_front();
    if (clients.front().items.empty())
      clients.pop_front();
    else
      clients.splice(clients.end(), clients, clients.begin());
    next_ = 1 - served;
  }

  template <class Which>
  void erase_if(const Which& which) {
    for (Clients& clients : waiting_) {
      for (Client& client : clients) std::erase_if(client.items, which);
      std::erase_if(clients, [](const Client& client) { return client.items.empty(); });
    }
  }
  void clear() {
    for (Clients& clients : waiting_) clients.clear();
  }

 private:
  struct Client {
    std::string name;
    std::deque<Item> items;  // not empty
  };
  using Clients = std::list<Client>;  // in the order of their turns

  std::size_t party() const { return waiting_[next_].empty() ? 1 - next_ : next_; }

  std::array<Clients, 2> waiting_;  // of this party, of the peer
  std::size_t next_ = 0;
};

}  // namespace tinyot::service
