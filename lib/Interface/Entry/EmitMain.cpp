// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The description of a kernel that the runtime's main reads (attn_rt_program in
// include/attn-rt/program.h), and the main that passes it on. A kernel that
// returns the steps of the program's attention (`attn.picture`) becomes the
// program's attn_rt_picture (include/attn-rt/picture.h), which --lab needs.
#include "Entry.h"
#include "attn/Interface/CNames.h"
#include "attn/Interface/ElementTypes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace attn;
using namespace attn::entry;

namespace {
/// Builds the value of a constant of several fields.
struct Aggregate {
  Emitter &e;
  Value value;

  Aggregate(Emitter &e, Type type)
      : e(e), value(LLVM::ZeroOp::create(e.b, type)) {}
  Aggregate &set(ArrayRef<int64_t> position, Value field) {
    value = LLVM::InsertValueOp::create(e.b, value, field, position);
    return *this;
  }
};
} // namespace

/// A constant whose value `build` makes.
static LLVM::GlobalOp makeGlobal(Emitter &e, const Twine &name, Type type,
                                 function_ref<Value()> build) {
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToEnd(e.module.getBody());
  auto global =
      LLVM::GlobalOp::create(e.b, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name.str(), Attribute());
  e.b.createBlock(&global.getInitializerRegion());
  e.returnValue(build());
  return global;
}

static LLVM::GlobalOp makePorts(Emitter &e, StringRef name,
                                ArrayRef<Port> ports) {
  llvm::StringMap<LLVM::GlobalOp> strings;
  auto text = [&](StringRef string) {
    LLVM::GlobalOp &global = strings[string];
    if (!global)
      global = e.bytes((name + ".text." + string).str(), string.str() + '\0');
    return e.address(global);
  };
  auto port = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(),
      {e.ptr, e.i32, e.i32, LLVM::LLVMArrayType::get(e.i64, ATTN_MAX_RANK),
       LLVM::LLVMArrayType::get(e.ptr, ATTN_MAX_RANK), e.i32});
  auto type = LLVM::LLVMArrayType::get(port, ports.size());
  return makeGlobal(e, name + ".ports", type, [&] {
    Aggregate all(e, type);
    for (const Port &p : ports) {
      all.set({p.index, 0}, text(p.attr.getName()))
          .set(
              {p.index, 1},
              e.constant(e.i32, findElementType(p.attr.getElementType())->code))
          .set({p.index, 2}, e.constant(e.i32, p.attr.getRank()))
          .set({p.index, 5}, e.constant(e.i32, p.attr.getOptional()));
      for (int64_t dim = 0; dim < p.attr.getRank(); ++dim) {
        all.set({p.index, 3, dim}, e.constant(e.i64, p.attr.getSizes()[dim]));
        if (p.attr.getSizes()[dim] < 0)
          all.set({p.index, 4, dim}, text(p.attr.getSymbols()[dim]));
      }
    }
    return all.value;
  });
}

/// The attn_rt_program of a kernel whose functions are there.
static LLVM::GlobalOp makeProgram(Emitter &e, StringRef name,
                                  ArrayRef<Port> ports,
                                  LLVM::GlobalOp picture) {
  LLVM::GlobalOp portTable = makePorts(e, name, ports);
  auto type = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(),
      {e.ptr, e.i32, e.i32, e.ptr, e.ptr, e.ptr, e.ptr, e.ptr, e.ptr, e.ptr});
  LLVM::GlobalOp nameText = e.bytes((name + ".name").str(), name.str() + '\0');
  int64_t inputs =
      llvm::count_if(ports, [](const Port &p) { return p.attr.getInput(); });
  return makeGlobal(e, name + ".program", type, [&] {
    Aggregate p(e, type);
    p.set(0, e.address(nameText))
        .set(1, e.constant(e.i32, inputs))
        .set(2, e.constant(e.i32, static_cast<int64_t>(ports.size()) - inputs))
        .set(3, e.address(portTable));
    int64_t field = 4;
    for (CName which : {CName::Run, CName::WorkspaceSize, CName::Strerror,
                        CName::Info, CName::Flops})
      p.set(field++, LLVM::AddressOfOp::create(
                         e.b, e.module.lookupSymbol<LLVM::LLVMFuncOp>(
                                  cName(name, which))));
    if (picture)
      p.set(field, e.address(picture));
    return p.value;
  });
}

/// The attn_rt_picture of the kernel of steps.
static LLVM::GlobalOp makePicture(Emitter &e, const KernelSignature &steps,
                                  StringRef specification) {
  func::FuncOp kernel = steps.getFunction();
  PictureAttr picture = PictureAttr::of(kernel);
  std::string name = steps.getName().str();
  LLVM::GlobalOp program = makeProgram(e, name, portsOf(kernel), {});
  auto render = e.declare("attn_rt_render_page", e.ptr, {e.ptr, e.ptr, e.ptr});
  std::string texts[] = {
      stringifyNormalization(picture.getNormalization().getValue()).str(),
      specification.str(), picture.getBounds().str()};
  SmallVector<LLVM::GlobalOp> globals;
  for (auto [i, text] : llvm::enumerate(texts))
    globals.push_back(
        e.bytes(name + ".picture_text" + std::to_string(i), text + '\0'));
  Type f64 = e.b.getF64Type();
  auto type = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(),
      {e.ptr, LLVM::LLVMArrayType::get(e.i32, picture.getPorts().size()), e.i32,
       e.i32, f64, e.ptr, e.ptr, e.ptr, e.ptr});
  return makeGlobal(e, name + ".picture", type, [&] {
    Aggregate p(e, type);
    p.set(0, e.address(program))
        .set(2, e.constant(e.i32, picture.getQueryTile()))
        .set(3, e.constant(e.i32, picture.getKeyTile()))
        .set(4, LLVM::ConstantOp::create(e.b, f64, picture.getScale()));
    for (auto [i, port] : llvm::enumerate(picture.getPorts().asArrayRef()))
      p.set({1, static_cast<int64_t>(i)}, e.constant(e.i32, port));
    for (auto [i, text] : llvm::enumerate(globals))
      p.set(5 + static_cast<int64_t>(i), e.address(text));
    p.set(8, LLVM::AddressOfOp::create(e.b, render));
    return p.value;
  });
}

void entry::emitMain(Emitter &e, const KernelSignature &kernel,
                     const KernelSignature *steps, StringRef specification,
                     bool withGPU) {
  LLVM::GlobalOp picture =
      steps ? makePicture(e, *steps, specification) : LLVM::GlobalOp();
  LLVM::GlobalOp program =
      makeProgram(e, kernel.getName(), portsOf(kernel.getFunction()), picture);
  auto run = e.declare(withGPU ? "attn_rt_gpu_main" : "attn_rt_main", e.i32,
                       {e.ptr, e.i32, e.ptr});
  auto function = e.declare("main", e.i32, {e.i32, e.ptr});
  Value argc = e.begin(function);
  e.returnValue(
      e.call(run, {e.address(program), argc, function.getArgument(1)}));
}
