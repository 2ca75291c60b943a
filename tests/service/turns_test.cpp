#include "service/turns.h"

#include <gtest/gtest.h>

#include <vector>

namespace tinyot {
namespace {

using service::Turns;

std::vector<int> taken_from(Turns<int>& turns) {
  std::vector<int> taken;
  for (; !turns.empty(); turns.pop_front()) taken.push_back(turns.front());
  return taken;
}

TEST(Turns, OfOneClientAreInOrder) {
  Turns<int> turns;
  for (const int item : {1, 2, 3}) turns.push({false, "a"}, item);
  EXPECT_EQ(taken_from(turns), (std::vector{1, 2, 3}));
}

TEST(Turns, ClientsOfAPartyTakeTurns) {
  Turns<int> turns;
  for (const int item : {1, 2, 3}) turns.push({false, "a"}, item);
  for (const int item : {11, 12}) turns.push({false, "b"}, item);
  turns.push({false, "c"}, 21);
  EXPECT_EQ(taken_from(turns), (std::vector{1, 11, 21, 2, 12, 3}));
}

// However many clients one of them names.
TEST(Turns, PartiesTakeTurns) {
  Turns<int> turns;
  for (const int item : {1, 2, 3}) turns.push({true, "client " + std::to_string(item)}, item);
  for (const int item : {11, 12}) turns.push({false, "a"}, item);
  EXPECT_EQ(taken_from(turns), (std::vector{11, 1, 12, 2, 3}));
}

TEST(Turns, ClientsOfBothPartiesWithOneNameAreTwo) {
  Turns<int> turns;
  turns.push({true, "a"}, 1);
  turns.push({true, "a"}, 2);
  turns.push({false, "a"}, 11);
  turns.pop_front();
  EXPECT_EQ(turns.front(), 1);
}

// A client that asks anew after each answer gets no second turn before the others.
TEST(Turns, WhoAsksAnewIsBehindTheOthers) {
  Turns<int> turns;
  for (const int item : {11, 12}) turns.push({false, "b"}, item);
  turns.push({false, "a"}, 1);
  turns.pop_front();
  EXPECT_EQ(turns.front(), 1);
  turns.pop_front();
  turns.push({false, "a"}, 2);
  EXPECT_EQ(taken_from(turns), (std::vector{12, 2}));
}

TEST(Turns, WhatIsErasedHasNoTurn) {
  Turns<int> turns;
  for (const int item : {1, 2}) turns.push({false, "a"}, item);
  turns.push({true, "b"}, 11);
  turns.erase_if([](int item) { return item == 1 || item == 11; });
  EXPECT_EQ(taken_from(turns), (std::vector{2}));
  turns.push({true, "b"}, 12);
  turns.clear();
  EXPECT_TRUE(turns.empty());
}

}  // namespace
}  // namespace tinyot
