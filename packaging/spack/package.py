"""Concord for Spack: copy the folder to var/spack/repos/.../packages/concord-cosimulation."""
from spack.package import *


class ConcordCosimulation(CMakePackage):
    """Parallel implicit co-simulation of equations, C++ classes and FMUs."""

    homepage = git = "https://example.org/concord.git"  # where your repository is
    license("BSD-2-Clause")

    version("main", branch="main")

    variant("python", default=True, description="Build the Python package")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18: +mpi +hdf5 ~complex")
    depends_on("hdf5@1.10: +mpi +hl")
    depends_on("sundials@6.4: +arkode +cvode +klu")
    depends_on("yaml-cpp@0.7:")
    depends_on("eigen@3.4:")
    depends_on("nlohmann-json@3.11:")
    depends_on("udunits@2.2:")
    depends_on("gsl")
    depends_on("pugixml")
    depends_on("libzip")
    depends_on("libzmq@4.3:")
    depends_on("cppzmq")
    depends_on("libevent@2.1:")
    depends_on("zlib-api")
    depends_on("openssl")
    with when("+python"):
        extends("python@3.8:")
        depends_on("py-pybind11@2.10:", type="build")
        depends_on("py-numpy", type=("build", "run"))
        depends_on("py-h5py", type="run")
        depends_on("py-matplotlib@3.6:", type="run")

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define("CONCORD_TESTS", False),
            self.define("CMAKE_UNITY_BUILD", True),
            self.define_from_variant("CONCORD_PYTHON", "python"),
        ]
        if self.spec.satisfies("+python"):
            arguments.append(self.define("CONCORD_PYTHON_FOLDER", python_purelib))
        return arguments
